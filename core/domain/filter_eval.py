"""The filter grammar in plain Python: slow, obvious, and the oracle of both compilers."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

from core.domain.canonical_json import canonical_json
from core.domain.casefold import fold
from core.domain.filter_fields import TEXT_FIELDS
from core.domain.filters import And, Cond, Node, Not
from core.domain.memory import Memory
from core.domain.scope import ENTITY_FIELDS

_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda left, right: left == right,
    "gt": lambda left, right: left > right,
    "gte": lambda left, right: left >= right,
    "lt": lambda left, right: left < right,
    "lte": lambda left, right: left <= right,
}


def evaluate(node: Node, memory: Memory) -> bool:
    """Whether the memory satisfies the filter; two-valued, so NOT is the exact complement.

    Null: `eq`, `in`, the order operators and `contains` are false, `ne` is true, "*" is false.
    Entity ids compare exactly. Text and metadata `contains` respect case, `icontains` does not.
    Categories: `in` is any-of, whole names without case; `contains` is part of any name, without case; no
    categories and an empty list are the same.

    Metadata, by top-level key, with JSON equality (1 is 1.0, true is not 1, "1" is not 1, key order is free):

        stored               eq v                    ne v           contains v
        key is missing       false                   true           false
        null                 v is null               not eq         false
        boolean, number      equal                   not eq         false
        string               equal                   not eq         v is a string and part of it (case kept)
        object               equal as a whole        not eq         false
        list                 equal as a whole,       not eq         any element equals v
                             or any element equals
    """
    if isinstance(node, Cond):
        return _holds(node, memory)
    if isinstance(node, Not):
        return not evaluate(node.part, memory)
    some_or_all = all if isinstance(node, And) else any
    return some_or_all(evaluate(part, memory) for part in node.parts)


def _holds(cond: Cond, memory: Memory) -> bool:
    if cond.field == "metadata":
        return _metadata(cond, memory.metadata)
    if cond.field == "categories":
        return _categories(cond, memory.categories or [])
    if cond.field in TEXT_FIELDS:
        if cond.op == "contains":
            return cond.value in memory.memory
        return fold(cond.value) in fold(memory.memory)
    return _scalar(cond, _value(cond.field, memory))


def _value(field: str, memory: Memory) -> str | date | datetime | Any:
    if field in ENTITY_FIELDS:
        return getattr(memory.scope, field)
    if field == "timestamp":
        return memory.created_at
    if field == "memory_ids":
        return memory.id
    return str(memory.state) if field == "state" else getattr(memory, field)


def _scalar(cond: Cond, value: Any) -> bool:
    if cond.op == "null":
        return value is None
    if cond.op == "present":
        return value is not None
    if cond.op == "ne":
        return bool(value != cond.value)
    if value is None:
        return False
    return value in cond.value if cond.op == "in" else _ORDER[cond.op](value, cond.value)


def _categories(cond: Cond, names: list[str]) -> bool:
    folded = [fold(name) for name in names]
    if cond.op == "present":
        return bool(folded)
    if cond.op == "in":
        return any(fold(wanted) in folded for wanted in cond.value)
    return any(fold(cond.value) in name for name in folded)


def _metadata(cond: Cond, metadata: dict[str, Any]) -> bool:
    if cond.key not in metadata:
        return cond.op == "ne"
    stored = metadata[cond.key]
    elements = [canonical_json(item) for item in stored] if isinstance(stored, list) else []
    if cond.op == "contains":
        return cond.value in elements or _part_of(cond.value, stored)
    equal = canonical_json(stored) == cond.value or cond.value in elements
    return equal if cond.op == "eq" else not equal


def _part_of(wanted: str, stored: Any) -> bool:
    """Both are strings, and the one lies in the other."""
    value = json.loads(wanted)
    return isinstance(stored, str) and isinstance(value, str) and value in stored
