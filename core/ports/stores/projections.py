"""Projections: which memories the index does not show yet as their rows have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.domain.work import Version


class ProjectionRequests(Protocol):
    """For who changes rows, in the transaction of the change itself."""

    def request(self, project_id: UUID, memory_ids: Sequence[UUID]) -> None:
        """Note that these memories have to be projected."""
        ...

    def request_all(self) -> int:
        """The same for every memory of all projects; how many."""
        ...


class ProjectionWork(Protocol):
    """For who writes points."""

    def pending(self, older_than: float, limit: int) -> list[tuple[UUID, UUID]]:
        """(project, memory) of requests at least `older_than` seconds old, oldest first, of all projects."""
        ...

    def lock(self, project_id: UUID, memory_ids: Sequence[UUID]) -> list[UUID]:
        """The ones still waiting among these; no other projector has them until the transaction ends."""
        ...

    def versions(self, project_id: UUID, memory_ids: Sequence[UUID]) -> dict[UUID, Version]:
        """What the rows are at now; purged ones are absent."""
        ...

    def done(self, project_id: UUID, memory_ids: Sequence[UUID]) -> int:
        """The index shows these memories; how many webhook deliveries became due with that."""
        ...


class ProjectionStore(ProjectionRequests, ProjectionWork, Protocol):
    """All of it."""
