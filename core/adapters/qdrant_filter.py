"""Filters in Qdrant's terms, over the payload of `core.domain.payload`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from qdrant_client import models

from core.domain.casefold import fold
from core.domain.filter_fields import DAY_FIELDS, TIME_FIELDS
from core.domain.filter_scope import pinned
from core.domain.filters import And, Cond, Node, Not
from core.domain.payload import NEVER, days, indexed, micros, token_of
from core.domain.scope import ENTITY_FIELDS

Resolved = Mapping[Node, Sequence[UUID]]

_NOTHING = models.HasIdCondition(has_id=[])
_DAY_KEYS = {"expiration_date": "expiration", "event_date": "event_date"}


def compile_filter(node: Node, ids: Resolved | None = None) -> models.Filter:
    """The filter for Qdrant. `ids`: each leaf of `payload.unindexed` → the ids of the rows that satisfy it.

    A filter that pins one scope becomes one match on `scope_key`; other null tests use stored flags: two
    `is_null` conditions are ten times slower than a keyword. Raises ValueError for a leaf that is missing in `ids`.
    """
    must: list[models.Condition] = []
    found = pinned(node)
    if found:
        must.append(_match("scope_key", found[0].key))
        node = found[1]
    parts = node.parts if isinstance(node, And) else (node,)
    must += [_condition(part, ids or {}) for part in parts]
    return models.Filter(must=must)


def _condition(node: Node, ids: Resolved) -> models.Condition:
    if isinstance(node, Cond):
        return _leaf(node, ids)
    if isinstance(node, Not):
        return _none_of(_condition(node.part, ids))
    parts = [_condition(part, ids) for part in node.parts]
    if isinstance(node, And):
        return models.Filter(must=parts)
    return models.Filter(should=parts) if parts else _NOTHING


def _leaf(cond: Cond, ids: Resolved) -> models.Condition:
    if cond in ids:
        return models.HasIdCondition(has_id=[str(id_) for id_ in ids[cond]])
    if not indexed(cond):
        raise ValueError(f"the index cannot answer '{cond.op}' on '{cond.field}'; resolve it to ids first")
    if cond.op == "ne":
        return _none_of(_leaf(Cond(cond.field, "eq", cond.value, cond.key), ids))
    if cond.field == "metadata":
        return _match("meta", token_of(cond.key or "", cond.value))
    if cond.field == "memory_ids":
        return models.HasIdCondition(has_id=[str(id_) for id_ in cond.value])
    if cond.field == "categories":
        return _categories(cond)
    if cond.field in DAY_FIELDS:
        return _day(cond)
    return _time(cond) if cond.field in TIME_FIELDS else _keyword(cond)


def _keyword(cond: Cond) -> models.Condition:
    if cond.field in ENTITY_FIELDS and cond.op in ("present", "null"):
        return _match(f"has_{cond.field}", int(cond.op == "present"))
    return _match_any(cond.field, cond.value) if cond.op == "in" else _match(cond.field, cond.value)


def _categories(cond: Cond) -> models.Condition:
    if cond.op == "present":
        return _match("has_categories", 1)
    return _match_any("categories", [fold(name) for name in cond.value])


def _time(cond: Cond) -> models.Condition:
    if cond.op == "present":  # these columns are never null
        return models.Filter(must=[])
    return _range(cond.field, cond.op, micros(cond.value))


def _day(cond: Cond) -> models.Condition:
    """No expiration date is stored as the day NEVER, and must not answer to `gt` and `gte`."""
    key = _DAY_KEYS[cond.field]
    if cond.op == "null":
        return _none_of(_range(key, "lt", NEVER))
    if cond.op == "present":
        return _range(key, "lt", NEVER)
    if cond.op == "in":
        return _match_any(key, [days(day) for day in cond.value])
    if cond.op in ("gt", "gte"):
        return models.FieldCondition(key=key, range=models.Range(**{cond.op: days(cond.value), "lt": NEVER}))
    return _range(key, cond.op, days(cond.value))


def _range(key: str, op: str, value: int) -> models.Condition:
    bounds: dict[str, Any] = {"gte": value, "lte": value} if op == "eq" else {op: value}
    return models.FieldCondition(key=key, range=models.Range(**bounds))


def _match(key: str, value: str | int) -> models.Condition:
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def _match_any(key: str, values: Sequence[Any]) -> models.Condition:
    if not values:
        return _NOTHING
    return models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))


def _none_of(condition: models.Condition) -> models.Condition:
    return models.Filter(must_not=[condition])
