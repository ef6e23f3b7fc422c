"""The parser of the filter grammar: JSON in, syntax tree out.

    filter    := object with at least one key; siblings are ANDed
    object    := "AND": [object, …] | "OR": [object, …] | "NOT": object or [object, …] | FIELD: value
    value     := operand (equality) | "*" (not null) | {OPERATOR: operand, …} (ANDed)

A list under NOT means that none of its objects holds. `OR` with one element is kept, because an `OR` around an
entity field lifts the scope rule. Fields and operators: `filter_fields`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from core.domain import filter_values as values
from core.domain.errors import MemlaneError
from core.domain.filter_fields import ALIASES, KINDS, KNOWN_OPERATORS, LOGIC, OPERATORS, WILDCARD, WIRE_FIELDS
from core.domain.filter_values import cut, invalid
from core.domain.filters import And, Cond, Node, Not, Or, all_of

MAX_DEPTH = 16
MAX_NODES = 200


def parse(raw: object) -> Node:
    """The filter a caller sent.

    Raises MemlaneError: `filters_missing` when there is none, `filters_invalid` with the place and the reason
    for unknown fields and operators, wrong operands, more than 16 levels, 200 nodes or 1,000 values in a list.
    """
    if raw is None or raw in ({}, [], ""):
        raise MemlaneError("filters_missing")
    return _Parser().object(raw, "filters", 0)


def parse_metadata(raw: dict[str, Any], at: str = "metadata") -> Node:
    """The `metadata` object of a list or search body: the grammar of `filters.metadata`, and plain objects too.

    Some clients send here what they store with an add, so that an object without operators is a value.
    """
    plain = {
        key: {"eq": value} if isinstance(value, dict) and not value.keys() & KNOWN_OPERATORS else value
        for key, value in raw.items()
    }
    return all_of(_Parser().metadata(plain, at))


class _Parser:
    """Keeps the count of nodes of one filter."""

    def __init__(self) -> None:
        self._nodes = 0

    def object(self, raw: Any, at: str, depth: int) -> Node:
        if not isinstance(raw, dict):
            invalid(f"{at} must be an object, not {values.kind_of(raw)}", at)
        if not raw:
            invalid(f"{at} must not be empty", at)
        if depth > MAX_DEPTH:
            invalid(f"The filter is nested deeper than {MAX_DEPTH} levels", at)
        return all_of(self._entry(key, value, f"{at}.{cut(key)}", depth) for key, value in raw.items())

    def _entry(self, key: str, value: Any, at: str, depth: int) -> Node:
        self._count(at)
        if key in LOGIC:
            return self._logic(key, value, at, depth)
        field = ALIASES.get(key, key)
        if field not in KINDS:
            allowed = f"Top-level key must be a logical operator or an allowed field: {[*LOGIC, *WIRE_FIELDS]}"
            invalid(f"{allowed}; got '{cut(key)}'", at)
        if field == "metadata":
            return all_of(self.metadata(value, at))
        return all_of(self._conditions(field, value, at))

    def _logic(self, key: str, value: Any, at: str, depth: int) -> Node:
        if key == "NOT" and isinstance(value, dict):
            return Not(self.object(value, at, depth + 1))
        if not isinstance(value, list):
            shape = "an object or a list of objects" if key == "NOT" else "a list of objects"
            invalid(f"{at} must be {shape}, not {values.kind_of(value)}", at)
        if not value:
            invalid(f"{at} needs at least one condition", at)
        parts = tuple(self.object(item, f"{at}[{number}]", depth + 1) for number, item in enumerate(value))
        if key == "AND":
            return And(parts)
        return Or(parts) if key == "OR" else Not(Or(parts))

    def _conditions(self, field: str, value: Any, at: str) -> list[Node]:
        """One field's conditions: a bare operand, or several operators that all must hold."""
        kind = KINDS[field]
        if not isinstance(value, dict):
            return [_bare(kind, field, value, at)]
        pairs = self._operators(kind, field, value, at)
        return [_with_operator(kind, field, op, operand, f"{at}.{op}") for op, operand in pairs]

    def metadata(self, raw: Any, at: str) -> list[Node]:
        """Conditions on top-level metadata keys: `{key: value}` or `{key: {eq | ne | contains: value}}`."""
        if not isinstance(raw, dict):
            invalid(f"{at} must be an object, not {values.kind_of(raw)}", at)
        if not raw:
            invalid(f"{at} must name at least one key", at)
        found: list[Node] = []
        for key, value in raw.items():
            name, here = values.text(key, at), f"{at}.{cut(key)}"
            self._count(here)
            pairs = [("eq", value)]
            if isinstance(value, dict):
                pairs = self._operators("metadata", name, value, here)
            found += [Cond("metadata", op, values.json_value(operand, here), name) for op, operand in pairs]
        return found

    def _operators(self, kind: str, field: str, raw: dict[str, Any], at: str) -> list[tuple[str, Any]]:
        allowed = ", ".join(OPERATORS[kind])
        if not raw:
            invalid(f"{at} needs an operator: {allowed}", at)
        for op in raw:
            self._count(at)
            if op not in KNOWN_OPERATORS:
                invalid(f"Unknown operator '{cut(op)}' on '{field}'; allowed: {allowed}", at)
            if op not in OPERATORS[kind]:
                invalid(f"Operator '{op}' is not allowed on '{field}'; allowed: {allowed}", at)
        return list(raw.items())

    def _count(self, at: str) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            invalid(f"The filter has more than {MAX_NODES} conditions", at)


def _bare(kind: str, field: str, value: Any, at: str) -> Node:
    """A value without operator: equality, except where equality makes no sense for the field."""
    if value == WILDCARD and "exists" in OPERATORS[kind]:
        return Cond(field, "present")
    if kind == "categories" and not isinstance(value, list):
        value = [value]
    op = {"categories": "in", "text": "icontains", "ids": "in"}.get(kind, "eq")
    return _compare(kind, field, op, value, at)


def _with_operator(kind: str, field: str, op: str, value: Any, at: str) -> Node:
    if op == "exists" and value is not True:
        invalid(f"{at} can only be true; use NOT for the opposite", at)
    if op == "exists" or (op == "eq" and value == WILDCARD):
        return Cond(field, "present")
    return _compare(kind, field, op, value, at)


def _compare(kind: str, field: str, op: str, value: Any, at: str) -> Node:
    if kind == "time":
        return _time(field, op, value, at)
    one = _OPERAND[kind]
    return Cond(field, op, values.many(value, at, one) if op == "in" else one(value, at))


def _entity_id(value: Any, at: str) -> str:
    written = values.text(value, at)
    if written == WILDCARD:
        invalid(f"{at}: the wildcard '*' stands alone; use {{'NOT': {{field: '*'}}}} for rows without one", at)
    return written


def _time(field: str, op: str, value: Any, at: str) -> Node:
    """A date without time covers its whole day on either side: `lte` includes it, `gt` begins after it."""
    if op == "in":
        return Or(tuple(_within(field, *pair) for pair in values.many(value, at, values.span)))
    first, last = values.span(value, at)
    if op in ("eq", "ne"):
        return _within(field, first, last) if op == "eq" else Not(_within(field, first, last))
    return Cond(field, op, last if op in ("gt", "lte") else first)


def _within(field: str, first: datetime, last: datetime) -> Node:
    if first == last:
        return Cond(field, "eq", first)
    return And((Cond(field, "gte", first), Cond(field, "lte", last)))


_OPERAND: dict[str, Callable[[Any, str], Any]] = {
    "entity": _entity_id,
    "day": values.day,
    "text": values.text,
    "categories": values.text,
    "ids": values.uuid,
}
