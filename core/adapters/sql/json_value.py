"""JSON as PostgreSQL gives it: its numbers are decimal, of any size, and a float of 1e20 comes as 21 digits."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

_LONG = re.compile(rb"\d{19}")  # what has no such run has no integer beyond 64 bits
_INT64 = range(-(2**63), 2**63)


def json_value(raw: bytes) -> Any:
    """Integers beyond 64 bits, which no request can bring, are read as the floats that they were."""
    return json.loads(raw, parse_int=_integer) if _LONG.search(raw) else orjson.loads(raw)


def _integer(digits: str) -> int | float:
    if len(digits) <= 20 and (value := int(digits)) in _INT64:
        return value
    return float(digits)
