"""Single memories read, changed and deleted; and many deleted by a filter."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from core.domain.filters import Node
from core.domain.history import HistoryEntry
from core.domain.memory import Memory


class PresentMemories(Protocol):
    """Memories that are not deleted: expired, superseded and merged ones too."""

    def read(self, project_id: UUID, memory_id: UUID) -> Memory | None: ...

    def read_many(self, project_id: UUID, memory_ids: Sequence[UUID]) -> list[Memory]:
        """In any order; ids of none are left out."""
        ...

    def lock(self, project_id: UUID, memory_ids: Sequence[UUID]) -> list[Memory]:
        """The same, locked until the transaction ends; in one order for all writers."""
        ...

    def linked(self, project_id: UUID, memory_id: UUID) -> list[UUID]:
        """The older memories that this one replaced, directly or through others."""
        ...


class MemoryEdits(Protocol):
    """A change to a row that the caller has locked."""

    def write(self, memory: Memory) -> None:
        """Store the changed row under its own version, the next one; id, project and scope never change. A text
        that is active in its scope already ends the transaction with UniqueViolation."""
        ...

    def unlink(self, project_id: UUID, memory_ids: Sequence[UUID]) -> None:
        """Forget which entities and relations these memories speak of."""
        ...

    def record_update(self, old: Memory, new: Memory, source: Sequence[dict[str, Any]] | None) -> None:
        """The history entry of a change; `source`: the messages {role, content} that led to it."""
        ...


class MemoryDeletions(Protocol):
    """Gone for readers first, then from the tables."""

    def mark_deleted(self, project_id: UUID, where: Node, before_event: UUID | None = None) -> int:
        """any other state → deleted, for all that the filter selects, with their history entries and their requests
        to the projector; how many. `before_event` spares rows that events accepted later have stored."""
        ...

    def deleted(self, project_id: UUID, where: Node, limit: int) -> list[Memory]:
        """Deleted rows that still wait to be purged."""
        ...

    def purge(self, project_id: UUID, memories: Sequence[Memory]) -> None:
        """Remove deleted rows with their history, links and relations, and entities that nothing names any more."""
        ...


class MemoryChanges(PresentMemories, MemoryEdits, MemoryDeletions, Protocol):
    """All of it."""


class HistoryReads(Protocol):
    """What became of memories, as clients read it."""

    def of_memory(self, project_id: UUID, memory_id: UUID) -> list[HistoryEntry]:
        """Oldest first; [] for a memory that never was or is purged."""
        ...

    def version(self, memory: Memory, version: int) -> Memory | None:
        """`memory` as one of its versions had it; None when it had no such one. Of a version that kept no snapshot
        the text alone is known, and the rest stays as it is."""
        ...

    def texts_at(self, project_id: UUID, ids: Sequence[UUID], moment: datetime) -> dict[UUID, str]:
        """The text each memory had at that time; memories without history are absent."""
        ...

    def count(self, project_id: UUID) -> int:
        """Entries of the whole project."""
        ...

    def page(self, project_id: UUID, offset: int, limit: int) -> list[HistoryEntry]:
        """Of the whole project, newest first."""
        ...
