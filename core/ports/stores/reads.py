"""Memories found: by a filter for a listing, by id for a search; and when they were found."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.domain.entities import ScopeEntity
from core.domain.filters import Node
from core.domain.memory import Memory
from core.domain.paging import Window
from core.domain.recalled import Recalled
from core.ports.models import Matrix


class MemoryReads(Protocol):
    """Listings. `until` is a `stored_seq`: rows stored later are left out. With `as_of` the rows are those of that
    time, and the filter is held against them as they were."""

    def measure(
        self, project_id: UUID, where: Node, until: int | None = None, as_of: datetime | None = None
    ) -> tuple[int, int]:
        """(count, highest `stored_seq` among them, 0 when none)."""
        ...

    def page(
        self,
        project_id: UUID,
        where: Node,
        window: Window,
        until: int | None = None,
        as_of: datetime | None = None,
    ) -> list[Memory]:
        """Newest first."""
        ...

    def ids(self, project_id: UUID, where: Node) -> list[UUID]:
        """Every row that the filter selects, in any order, deleted ones left out."""
        ...


class SearchReads(Protocol):
    """Every hit of the index is looked up here before anybody sees it."""

    def still_there(self, project_id: UUID, where: Node, ids: Sequence[UUID]) -> list[Recalled]:
        """Those of `ids` that belong to the project and satisfy the filter now, in any order."""
        ...

    def whole_scope(
        self, project_id: UUID, where: Node, most: int, model: str, dims: int
    ) -> tuple[list[Recalled], Matrix]:
        """What the filter selects now of the one scope that it pins, in any order, and the vectors, float32 of shape
        (memories, dims). What has no vector of so many dimensions is in no index, and left out.

        Nothing when the scope has more than `most` rows (deleted ones count until they are purged), or when the
        active collection is not of `model`; such a scope is not read. Raises ValueError for a filter that pins none.
        """
        ...

    def vectors(self, project_id: UUID, ids: Sequence[UUID], dims: int) -> dict[UUID, Matrix]:
        """The stored vectors of those of `ids` that have so many dimensions, float32 of shape (dims,)."""
        ...


class TouchStore(Protocol):
    """When memories were found (decay)."""

    def of(self, project_id: UUID, ids: Sequence[UUID]) -> dict[UUID, list[datetime]]:
        """Newest first; a memory that was never found is absent."""
        ...

    def touch(self, project_id: UUID, ids: Sequence[UUID], now: datetime) -> None:
        """Note that they were found; the oldest times of each are forgotten. What is purged is left out."""
        ...


class ScopeEntityStore(Protocol):
    """Users, agents, apps and runs (`type_`): known from the first add that named them."""

    def listed(self, project_id: UUID, offset: int, limit: int | None) -> list[ScopeEntity]:
        """Those that have memories, newest first; all of them when `limit` is None."""
        ...

    def totals(self, project_id: UUID) -> dict[str, int]:
        """type → number of entities that have memories; every type is there."""
        ...

    def one(self, project_id: UUID, type_: str, name: str) -> ScopeEntity | None:
        """A known entity, whether it has memories or not."""
        ...

    def by_number(self, project_id: UUID, type_: str, number: int) -> ScopeEntity | None:
        """The same by its number; its memories are not counted."""
        ...
