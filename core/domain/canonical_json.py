"""One text per JSON value, so that values can be compared and hashed across Python, PostgreSQL and Qdrant."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any


def canonical_json(value: Any) -> str:
    """JSON text that is equal exactly when the JSON values are: keys sorted, no spaces, numbers by value.

    1, 1.0 and 1e0 give one text and `true` another, as jsonb compares them. Numbers are written as
    digits and exponent (100 is `1E2`), which every JSON reader accepts.
    Raises ValueError for what JSON cannot hold: NaN, infinities, non-string keys, other types.
    """
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list | tuple):
        return "[" + ",".join(canonical_json(item) for item in value) + "]"
    if isinstance(value, dict):
        return _object(value)
    raise ValueError(f"{type(value).__name__} is not a JSON type")


def _object(value: dict[Any, Any]) -> str:
    if not all(isinstance(key, str) for key in value):
        raise ValueError("the keys of a JSON object are strings")
    pairs = sorted(value.items())
    return "{" + ",".join(f"{canonical_json(key)}:{canonical_json(item)}" for key, item in pairs) + "}"


def _number(value: int | float) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("JSON has no NaN and no infinities")
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits))
    stripped = text.rstrip("0")
    if not stripped:
        return "0"
    power = int(exponent) + len(text) - len(stripped)
    return ("-" if sign else "") + stripped.lstrip("0") + (f"E{power}" if power else "")
