"""What is done after the fact: categories found anew, patterns over memories, and what has served its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from core.domain.memory import Memory


@dataclass(frozen=True)
class Uncategorized:
    """One memory's version that is to be categorised; `age` are seconds since it was asked for."""

    project_id: UUID
    memory_id: UUID
    version: int
    tries: int
    age: float


@dataclass(frozen=True)
class DueScope:
    """A scope to look for patterns in; `fingerprint` tells its memories when it was last looked at ("" for never)."""

    project_id: UUID
    scope_key: str
    fingerprint: str


class CategorizationStore(Protocol):
    """Which memories wait for their categories to be found again."""

    def request(self, project_id: UUID, memory_id: UUID, version: int) -> None:
        """Note, in the transaction of the change itself, that this version's categories are to be found."""
        ...

    def claim(self, limit: int, seconds: float) -> list[Uncategorized]:
        """Due ones of all projects, each with its try counted; due again after `seconds` unless settled before."""
        ...

    def later(self, wanted: Uncategorized, seconds: float) -> None:
        """Due again in `seconds`."""
        ...

    def done(self, wanted: Uncategorized) -> None:
        """Nothing more is to be done for this version; a request for a later one stays."""
        ...

    def store(self, wanted: Uncategorized, categories: Sequence[str]) -> bool:
        """Give the version its categories, in its row and in its history; False when it is not the present one."""
        ...


class SynthesisRuns(Protocol):
    """When which scope is looked at."""

    def claim(self, period: float, least: int, limit: int) -> list[DueScope]:
        """Scopes of all projects that want patterns, with at least so many memories, and not looked at within
        `period` seconds; they count as looked at now."""
        ...

    def again(self, wanted: DueScope, period: float, seconds: float) -> None:
        """Nothing came of it: due again in `seconds`."""
        ...

    def finish(self, wanted: DueScope, seen: str) -> None:
        """Note the fingerprint of what was looked at."""
        ...


class Patterns(Protocol):
    """Memories that tell what others have in common, and those others, their evidence."""

    def material(self, wanted: DueScope, limit: int) -> list[Memory]:
        """The scope's present memories, newest first, patterns left out."""
        ...

    def patterns(self, wanted: DueScope) -> list[Memory]:
        """Those that are active, in order of storing."""
        ...

    def withered(self, limit: int) -> list[tuple[UUID, UUID]]:
        """(project, pattern) of patterns of all projects whose evidence is not all active any more."""
        ...

    def widen(self, pattern: Memory, evidence: Sequence[UUID]) -> None:
        """Give an active pattern this evidence."""
        ...


class SynthesisStore(SynthesisRuns, Patterns, Protocol):
    """All of it."""


class RetentionStore(Protocol):
    """What is deleted when it has served its time, of all projects."""

    def purge(self, kind: str, days: float, limit: int) -> int:
        """Delete (payloads: empty) up to `limit` rows of a kind (core/domain/retention.py) that are older than
        `days`, or than what their project's setting `retention` says; how many."""
        ...
