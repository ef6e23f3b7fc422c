"""What a list or a search selects: the caller's filter, and what stands beside it in the body."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeVar

from core.domain.errors import MemlaneError
from core.domain.filter_parse import parse, parse_metadata
from core.domain.filter_scope import require_entity
from core.domain.filter_values import many, span, text
from core.domain.filters import Cond, Node, all_of, in_states, unexpired
from core.domain.memory import MemoryState

T = TypeVar("T")


@dataclass(frozen=True)
class Narrowing:
    """The keys of a list or search body beside `filters`; all of them must hold.

    `categories`: any of them. `keywords`: part of the text, without case. `start_date` and `end_date`: created
    within, both inclusive, dates or date-times. The switches show more (expired, merged and corrected
    memories) or less (`latest_only`: nothing that was superseded).
    """

    categories: Sequence[str] = ()
    metadata: Mapping[str, Any] | None = None
    keywords: str | None = None
    start_date: str | None = None
    end_date: str | None = None
    show_expired: bool = False
    latest_only: bool = False
    include_merged: bool = False


def select(filters: object, narrowing: Narrowing, today: date) -> Node:
    """The rows that a list or a search is about, before the scope rule (`filter_scope.scoped`); `today` in UTC.

    Raises MemlaneError: `filters_missing`, `filters_invalid`, `filters_unscoped`, `validation_failed`.
    """
    node = parse(filters)
    require_entity(node)
    return all_of([node, *_beside(narrowing), *_visible(narrowing, today)])


def _beside(narrowing: Narrowing) -> list[Node]:
    parts: list[Node] = []
    if narrowing.categories:
        names = _checked(lambda at: many(list(narrowing.categories), at, text), "categories")
        parts.append(Cond("categories", "in", names))
    if narrowing.metadata:
        metadata = dict(narrowing.metadata)
        parts.append(_checked(lambda at: parse_metadata(metadata, at), "metadata"))
    if narrowing.keywords:
        parts.append(Cond("keywords", "icontains", _checked(lambda at: text(narrowing.keywords, at), "keywords")))
    if narrowing.start_date:
        parts.append(Cond("created_at", "gte", _checked(lambda at: span(narrowing.start_date, at), "start_date")[0]))
    if narrowing.end_date:
        parts.append(Cond("created_at", "lte", _checked(lambda at: span(narrowing.end_date, at), "end_date")[1]))
    return parts


def _visible(narrowing: Narrowing, today: date) -> list[Node]:
    """Which states are shown. A superseded row is shown, unless it was a mistake that was corrected."""
    states = [MemoryState.ACTIVE]
    if not narrowing.latest_only:
        states.append(MemoryState.SUPERSEDED)
    if narrowing.include_merged:
        states.append(MemoryState.MERGED)
    if narrowing.show_expired:
        states.append(MemoryState.EXPIRED)
    parts = [in_states(*states)]
    if not narrowing.show_expired:
        parts.append(unexpired(today))
    if not narrowing.latest_only and not narrowing.include_merged:
        parts.append(Cond("replaced_kind", "ne", "corrected"))
    return parts


def _checked(read: Callable[[str], T], name: str) -> T:
    """What `read` makes of the body key `name`; its refusal speaks of the body, not of the filter."""
    try:
        return read(name)
    except MemlaneError as error:
        raise MemlaneError("validation_failed", error.message, pointer=error.pointer) from None
