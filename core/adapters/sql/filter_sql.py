"""Filters in SQL, over the `memories` table. Everything a caller wrote is a bound parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Text,
    Uuid,
    and_,
    any_,
    case,
    cast,
    false,
    func,
    literal,
    or_,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import JSONB

from core.adapters.sql.tables import MemoryRow
from core.domain.casefold import fold, variants
from core.domain.filter_fields import TEXT_FIELDS, TIME_FIELDS
from core.domain.filter_scope import pinned
from core.domain.filters import And, Cond, Node, Not

_MEMORIES = MemoryRow.__table__  # type: ignore[attr-defined]
_COLUMNS = _MEMORIES.c
_NAMES = {"timestamp": "created_at", "memory_ids": "id"}

Condition = ColumnElement[bool]


def compile_sql(node: Node) -> Condition:
    """The filter as an expression that is TRUE for exactly the rows it selects.

    It may be NULL for others: a WHERE clause takes both alike, and inside the expression NOT is written as
    `IS NOT TRUE`, which turns NULL into TRUE. A filter that pins one scope becomes one match on `scope_key`.
    """
    found = pinned(node)
    if found is None:
        return _condition(node)
    scope, rest = found
    return and_(_COLUMNS.scope_key == scope.key, _condition(rest))


def _condition(node: Node) -> Condition:
    if isinstance(node, Cond):
        return _leaf(node)
    if isinstance(node, Not):
        return _not(_condition(node.part))
    parts = [_condition(part) for part in node.parts]
    return and_(true(), *parts) if isinstance(node, And) else or_(false(), *parts)


def _not(condition: Condition) -> Condition:
    return condition.is_not(true())


def _leaf(cond: Cond) -> Condition:
    if cond.field == "metadata":
        return _metadata(cond)
    if cond.field == "categories":
        return _categories(cond)
    column = _COLUMNS.memory if cond.field in TEXT_FIELDS else _COLUMNS[_NAMES.get(cond.field, cond.field)]
    if cond.op == "contains":
        return func.strpos(column, cond.value) > 0
    if cond.op == "icontains":
        return _contains_without_case(column, cond.value)
    return _compare(column, cond)


def _compare(column: ColumnElement[Any], cond: Cond) -> Condition:
    if cond.op == "null":
        return column.is_(None)
    if cond.op == "present":
        return true() if cond.field in TIME_FIELDS else column.is_not(None)
    if cond.op == "ne":
        return column.is_distinct_from(cond.value)
    if cond.op == "in":
        return column == any_(literal(list(cond.value), ARRAY(Uuid if cond.field == "memory_ids" else column.type)))
    return _ORDER[cond.op](column, cond.value)


_ORDER: dict[str, Callable[[ColumnElement[Any], Any], Condition]] = {
    "eq": lambda column, value: column == value,
    "gt": lambda column, value: column > value,
    "gte": lambda column, value: column >= value,
    "lt": lambda column, value: column < value,
    "lte": lambda column, value: column <= value,
}


def _categories(cond: Cond) -> Condition:
    if cond.op == "present":
        return func.cardinality(_COLUMNS.categories) > 0
    name = func.unnest(_COLUMNS.categories).column_valued("category")
    if cond.op == "contains":
        wanted = _contains_without_case(name, cond.value)
    else:
        folded = [fold(value) for value in cond.value]
        wanted = _without_case(name, folded) == any_(literal(folded, ARRAY(Text)))
    return select(literal(1)).where(wanted).correlate(_MEMORIES).exists()


def _contains_without_case(column: ColumnElement[Any], value: str) -> Condition:
    folded = fold(value)
    return func.strpos(_without_case(column, folded), folded) > 0


def _metadata(cond: Cond) -> Condition:
    stored = _COLUMNS["metadata"].op("->", return_type=JSONB())(literal(cond.key, Text))
    value = cast(literal(cond.value, Text), JSONB)
    items = case((func.jsonb_typeof(stored) == "array", stored), else_=cast(literal("[]", Text), JSONB))
    element = func.jsonb_array_elements(items, type_=JSONB()).column_valued("element")
    among = select(literal(1)).where(element == value).correlate(_MEMORIES).exists()
    if cond.op == "contains":
        return or_(among, _part_of(value, stored))
    equal = or_(stored == value, among)
    return equal if cond.op == "eq" else _not(equal)


def _part_of(value: ColumnElement[Any], stored: ColumnElement[Any]) -> Condition:
    """Both are JSON strings, and `value` lies in `stored`; `#>> '{}'` is a JSON string without its quotes."""
    strings = and_(func.jsonb_typeof(stored) == "string", func.jsonb_typeof(value) == "string")
    root = literal([], ARRAY(Text))
    texts = [json.op("#>>", return_type=Text())(root) for json in (stored, value)]
    return and_(strings, func.strpos(*texts) > 0)


def _without_case(column: ColumnElement[Any], wanted: Iterable[str]) -> ColumnElement[Any]:
    """The column with case folded as `casefold.fold` does it, for comparison with these folded texts.

    Only letters of the wanted texts are folded: others cannot match anyway. `lower()` would depend on the
    database's locale, and a pattern per text is slow to compile where there are many.
    """
    letters = sorted({char for text in wanted for char in text})
    pairs = [(spelling, char) for char in letters for spelling in variants(char) if spelling != char]
    if not pairs:
        return column
    spellings, folded = ("".join(side) for side in zip(*pairs, strict=True))
    return func.translate(column, spellings, folded, type_=Text)
