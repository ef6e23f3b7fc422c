"""Qdrant's JSON filters, as Edge filters. What is not understood is refused: ignoring it would widen a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import qdrant_edge as edge

from deploy.local.endpoint.errors import wrong_input

_CLAUSES = {"must", "should", "must_not", "min_should"}
_BOUNDS = {"gt", "gte", "lt", "lte"}


def as_filter(raw: Any) -> edge.Filter:
    """`{"must": [...], "should": [...], "must_not": [...], "min_should": {...}}`, nested at will."""
    if not isinstance(raw, dict) or not raw.keys() <= _CLAUSES:
        raise wrong_input(f"a filter has the keys {sorted(_CLAUSES)}, got {_shown(raw)}")
    clauses: dict[str, Any] = {}
    for name in ("must", "should", "must_not"):
        if raw.get(name) is not None:
            clauses[name] = _conditions(raw[name])
    if raw.get("min_should") is not None:
        least = raw["min_should"]
        clauses["min_should"] = edge.MinShould(_conditions(least["conditions"]), least["min_count"])
    return edge.Filter(**clauses)


def optional_filter(raw: Any) -> edge.Filter | None:
    return None if raw is None else as_filter(raw)


def _conditions(raw: Any) -> list[Any]:
    # Qdrant accepts a single condition where a list is expected
    return [_condition(item) for item in (raw if isinstance(raw, list) else [raw])]


def _condition(raw: Any) -> Any:
    if not isinstance(raw, dict):
        raise wrong_input(f"a condition is an object, got {_shown(raw)}")
    if "key" in raw:
        return _field_condition(raw)
    for name, build in _BY_NAME.items():
        if raw.keys() == {name}:
            return build(raw[name])
    return as_filter(raw)


def _field_condition(raw: dict[str, Any]) -> edge.FieldCondition:
    tests: dict[str, Any] = {}
    for name, value in raw.items():
        if name == "key" or value is None:
            continue
        if name == "match":
            tests[name] = _match(value)
        elif name == "range":
            tests[name] = _range(value)
        elif name in ("is_null", "is_empty"):
            tests[name] = value
        else:
            raise wrong_input(f"the condition `{name}` is not supported by the local endpoint")
    if not tests:
        raise wrong_input(f"the condition on `{raw['key']}` tests nothing")
    return edge.FieldCondition(raw["key"], **tests)


def _match(raw: Any) -> Any:
    if isinstance(raw, dict) and len(raw) == 1:
        ((name, value),) = raw.items()
        if name in _MATCHES:
            return _MATCHES[name](value)
    raise wrong_input(f"a match has one of the keys {sorted(_MATCHES)}, got {_shown(raw)}")


def _range(raw: Any) -> edge.RangeFloat:
    if not isinstance(raw, dict) or not raw.keys() <= _BOUNDS:
        raise wrong_input(f"a range has the keys {sorted(_BOUNDS)}, got {_shown(raw)}")
    if any(isinstance(bound, str) for bound in raw.values()):
        raise wrong_input("ranges of dates are not supported by the local endpoint; store seconds")
    return edge.RangeFloat(**raw)


def _value(raw: Any) -> edge.MatchValue:
    """The binding takes True for 1, which matches no stored true; numpy's booleans it leaves alone."""
    value: Any = np.bool_(raw) if isinstance(raw, bool) else raw
    return edge.MatchValue(value)


def _several(raw: Any) -> list[Any]:
    if not isinstance(raw, list) or any(isinstance(value, bool) for value in raw):
        raise wrong_input("`any` and `except` take a list of strings or of whole numbers")
    return raw


def _key(raw: Any) -> str:
    if not isinstance(raw, dict) or raw.keys() != {"key"}:
        raise wrong_input(f'expected {{"key": ...}}, got {_shown(raw)}')
    return str(raw["key"])


def _shown(raw: Any) -> str:
    return repr(sorted(raw) if isinstance(raw, dict) else raw)[:120]


_MATCHES: dict[str, Callable[[Any], Any]] = {
    "value": _value,
    "any": lambda raw: edge.MatchAny(_several(raw)),
    "except": lambda raw: edge.MatchExcept(_several(raw)),
}
_BY_NAME: dict[str, Callable[[Any], Any]] = {
    "is_null": lambda raw: edge.IsNullCondition(_key(raw)),
    "is_empty": lambda raw: edge.IsEmptyCondition(_key(raw)),
    "has_id": lambda raw: edge.HasIdCondition(set(raw)),
    "has_vector": edge.HasVectorCondition,
    "filter": as_filter,
}
