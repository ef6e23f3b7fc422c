"""Query parameters that hold more than a word: JSON objects, lists."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from typing import Any

from api.body import parse_object
from core.domain.errors import MemlaneError

MAX_LITERAL = 10_000  # characters of an object written as a Python literal


def json_object(name: str, written: str | None) -> dict[str, Any] | None:
    """A JSON object that is not empty; or its Python literal, since one official client sends that.

    Raises MemlaneError("validation_failed") for everything else.
    """
    if written is None:
        return None
    value = _parsed(written)
    if not isinstance(value, dict) or not value:
        raise MemlaneError("validation_failed", f"{name} must be a JSON object that is not empty.", pointer=name)
    return value


def _parsed(written: str) -> Any:
    try:
        return parse_object(written.encode())
    except MemlaneError:
        if len(written) > MAX_LITERAL:
            return None
    try:
        return ast.literal_eval(written)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def words(values: Sequence[str] | None) -> tuple[str, ...]:
    """Repeated parameters, comma-separated ones, and JSON arrays of strings."""
    found: list[str] = []
    for value in values or ():
        found += _array(value) if value.lstrip().startswith("[") else value.split(",")
    return tuple(word.strip() for word in found if word.strip())


def _array(written: str) -> list[str]:
    try:
        parsed = json.loads(written)
    except (json.JSONDecodeError, RecursionError):
        return [written]
    return [item for item in parsed if isinstance(item, str)] if isinstance(parsed, list) else [written]
