"""Memories as ingestion and the projector meet them: what is known, what is added, what it leaves behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Protocol
from uuid import UUID

from core.domain.memory import Memory


@dataclass(frozen=True)
class KnownText:
    """The active memory that has a text. Past its `expiration_date` it is as good as gone, but holds the text."""

    id: UUID
    expiration_date: date | None


@dataclass(frozen=True)
class SaidBefore:
    """A message of a lane; `position` counts the lane's messages, from 0."""

    position: int
    role: str  # user | assistant
    name: str | None
    content: str
    said_at: datetime


class KnownMemories(Protocol):
    """What the stages before Commit look at."""

    def marks(self, project_id: UUID, scope_keys: Sequence[str]) -> dict[str, int]:
        """By scope key the highest `stored_seq`: what the caller has seen. Empty scopes are left out."""
        ...

    def unprojected(self, project_id: UUID, scope_keys: Sequence[str]) -> list[Memory]:
        """Active memories of these scopes that the index does not hold yet, newest first, 500 at most."""
        ...

    def active_by_hash(
        self, project_id: UUID, scope_keys: Sequence[str], hashes: Sequence[str]
    ) -> dict[tuple[str, str], KnownText]:
        """(scope_key, hash) → the active memory with this text; texts that nobody holds are absent."""
        ...

    def by_ids(self, project_id: UUID, ids: Sequence[UUID]) -> list[Memory]:
        """In any order; deleted rows included."""
        ...

    def neighbours(self, project_id: UUID, memories: Sequence[Memory], reach: int) -> list[Memory]:
        """Active memories of the same scope and lane within ±`reach` positions of any of these, themselves too."""
        ...


class MemoryWrites(Protocol):
    """Rows that come, and rows that give way."""

    def lock_scopes(self, project_id: UUID, scope_keys: Sequence[str]) -> None:
        """Make the writers of these scopes wait for each other until the transaction ends."""
        ...

    def add(self, memories: Sequence[Memory]) -> None:
        """Store as new. A text that is active in its scope already ends the transaction with UniqueViolation."""
        ...

    def expire(self, ids: Sequence[UUID]) -> None:
        """active → expired; what is not active stays as it is."""
        ...

    def close(self, memory_id: UUID, state: str, by: UUID, kind: str | None, at: datetime) -> bool:
        """active → superseded | merged (`state`), by memory `by`, valid until `at`. False when it was not active
        any more, or is immutable."""
        ...


class MemoryTraces(Protocol):
    """What an added or changed memory leaves in other tables."""

    def record(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """History entries: project_id, memory_id, version, event, old_memory, new_memory, input, created_at."""
        ...

    def link(self, memories: Sequence[Memory]) -> None:
        """Make the memories' entities known in their scopes and link them."""
        ...

    def recent_messages(self, project_id: UUID, lane_key: str, before: int, limit: int) -> list[SaidBefore]:
        """The lane's last messages before a position, oldest first."""
        ...


class MemoryStore(KnownMemories, MemoryWrites, MemoryTraces, Protocol):
    """All of it."""
