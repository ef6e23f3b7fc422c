"""Erasures: an entity cut off at once, its texts removed by a job, and a receipt that names nobody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol
from uuid import UUID

from core.domain.erasure import Erasure
from core.domain.memory import Memory


class ErasureRecords(Protocol):
    """What is kept of an erasure."""

    def add(self, erasure: Erasure) -> None: ...

    def one(self, project_id: UUID, erasure_id: UUID) -> Erasure | None: ...

    def last(self, project_id: UUID, digest: bytes) -> Erasure | None:
        """The newest erasure of an entity, known by its digest alone."""
        ...

    def count(self, erasure_id: UUID, receipt: dict[str, int]) -> None:
        """Replace the receipt."""
        ...


class ErasureSteps(Protocol):
    """`lanes` are the keys that the first of these gives; counts are by kind (events, memories, …)."""

    def lanes(self, project_id: UUID, type_: str, name: str) -> list[str]:
        """The lanes that carry the entity, locked: an accept in one of them comes before or after this."""
        ...

    def cut(self, project_id: UUID, lanes: Sequence[str], error: dict[str, Any]) -> dict[str, int]:
        """any open state → failed with `error`, and every event of these lanes emptied; workers there lose their
        leases. Counts of what was removed."""
        ...

    def mark(self, erasure: Erasure, lanes: Sequence[str]) -> dict[str, int]:
        """Memories: any other state → deleted; earlier deliveries removed. Counts of both."""
        ...

    def left(self, erasure: Erasure, lanes: Sequence[str], limit: int) -> list[Memory]:
        """Marked rows that still have their text."""
        ...

    def history_of(self, project_id: UUID, memory_ids: Sequence[UUID]) -> int:
        """How many history entries these memories have."""
        ...

    def forget(self, erasure: Erasure) -> None:
        """Take the entity's id out of events and lanes, and the entity and the erasure's own memory of it away.

        While another erasure of the same entity waits, all but the last is left to that one, which needs the name.
        """
        ...


class ErasureStore(ErasureRecords, ErasureSteps, Protocol):
    """All of it."""
