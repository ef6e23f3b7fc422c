"""Operands of the filter grammar: what a caller wrote, checked and turned into hashable Python values."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from typing import Any, NoReturn, TypeVar
from uuid import UUID

from core.domain.canonical_json import canonical_json
from core.domain.errors import MemlaneError

MAX_LIST = 1000
MAX_TEXT = 1000
_MAX_METADATA_DEPTH = 16

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?([Zz]|[+-]\d\d(:?\d\d)?)?", re.ASCII)
_DATE_HINT = "a date 'YYYY-MM-DD' or an ISO 8601 date-time"

_KINDS = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}

T = TypeVar("T")


def invalid(message: str, at: str) -> NoReturn:
    """Refuse the filter: 400 in the documented shape `{"filters": [message]}`, `at` points to the place."""
    raise MemlaneError("filters_invalid", message, pointer=at, filters=[message])


def cut(name: Any) -> str:
    """A caller's key as it can stand in an error message: short, and valid Unicode."""
    return str(name)[:100].encode("utf-8", "replace").decode()


def text(value: Any, at: str) -> str:
    """A non-empty string that PostgreSQL and JSON can carry."""
    if not isinstance(value, str):
        invalid(f"{at} must be a string, not {kind_of(value)}", at)
    if not value:
        invalid(f"{at} must not be empty", at)
    if len(value) > MAX_TEXT:
        invalid(f"{at} is longer than {MAX_TEXT} characters", at)
    _clean(value, at)
    return value


def many(value: Any, at: str, one: Callable[[Any, str], T]) -> tuple[T, ...]:
    """A list of at most MAX_LIST operands, doubles dropped. An empty list is allowed: it matches nothing."""
    if not isinstance(value, list):
        invalid(f"{at} must be a list, not {kind_of(value)}", at)
    if len(value) > MAX_LIST:
        invalid(f"{at} has more than {MAX_LIST} values", at)
    return tuple(dict.fromkeys(one(item, f"{at}[{number}]") for number, item in enumerate(value)))


def uuid(value: Any, at: str) -> UUID:
    try:
        return UUID(text(value, at))
    except ValueError:
        invalid(f"{at} must be a UUID", at)


def span(value: Any, at: str) -> tuple[datetime, datetime]:
    """The first and the last microsecond (UTC, inclusive) that a date or date-time stands for.

    A date stands for its whole UTC day, a date-time for itself; without an offset it is taken as UTC.
    """
    written = text(value, at)
    try:
        if _DAY.fullmatch(written):
            day = date.fromisoformat(written)
            return datetime.combine(day, time.min, UTC), datetime.combine(day, time.max, UTC)
        if _INSTANT.fullmatch(written):
            moment = datetime.fromisoformat(written.upper().replace(",", "."))
            moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
            return moment, moment
    except (ValueError, OverflowError):
        invalid(f"{at} is not a date that exists; expected {_DATE_HINT}", at)
    invalid(f"{at} must be {_DATE_HINT}", at)


def day(value: Any, at: str) -> date:
    """A UTC day; a date-time is cut to its day (expiration dates have no time)."""
    return span(value, at)[0].date()


def json_value(value: Any, at: str) -> str:
    """Any JSON value as canonical text."""
    _clean_json(value, at, 0)
    try:
        return canonical_json(value)
    except ValueError as error:
        invalid(f"{at} is not a JSON value: {error}", at)


def kind_of(value: Any) -> str:
    """The JSON name of a value's type."""
    if value is None:
        return "null"
    return _KINDS.get(type(value), type(value).__name__)


def _clean(value: str, at: str) -> None:
    if "\x00" in value or any("\ud800" <= char <= "\udfff" for char in value):
        invalid(f"{at} must not contain NUL characters or lone surrogates", at)


def _clean_json(value: Any, at: str, depth: int) -> None:
    if depth > _MAX_METADATA_DEPTH:
        invalid(f"{at} is nested deeper than {_MAX_METADATA_DEPTH} levels", at)
    if isinstance(value, str):
        _clean(value, at)
    elif isinstance(value, list):
        for item in value:
            _clean_json(item, at, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            _clean_json(key, at, depth + 1)
            _clean_json(item, at, depth + 1)
