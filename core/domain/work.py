"""An event as a worker sees it, and what its work comes to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from core.domain.scope import Scope


@dataclass(frozen=True)
class Version:
    """What tells two versions of a memory's row apart."""

    version: int
    updated_at: datetime
    state: str


@dataclass(frozen=True)
class NewEvent:
    """What accept writes. `messages` is how many positions of the lane the event takes."""

    id: UUID
    event_type: str
    scope: Scope
    payload: dict[str, Any]
    source: str | None = None
    messages: int = 0


@dataclass(frozen=True)
class EventWork:
    """A claimed event: enough to do its work without another read."""

    id: UUID
    project_id: UUID
    event_type: str
    scope: Scope
    lane_key: str
    seq: int
    position: int
    payload: dict[str, Any]
    tries: int
    crashes: int
    created_at: datetime
    settings: dict[str, Any]  # the project's, when the event was claimed
    age: float  # seconds, when it was claimed, since it was accepted or last queued again: by the database's clock


@dataclass(frozen=True)
class Retry:
    """Try again at `after` seconds from now; `error` is the catalogue object of this failure.

    `counted` is False where nothing was tried (an open breaker): that is no try of the event.
    """

    after: float
    error: dict[str, Any]
    counted: bool = True


@dataclass(frozen=True)
class Fail:
    error: dict[str, Any]


@dataclass(frozen=True)
class Done:
    """The work is committed; what is left is the projection."""

    event_id: UUID
    memory_ids: tuple[UUID, ...] = ()


@dataclass(frozen=True)
class HandBack:
    """A stopping worker gives the event back, uncounted."""


@dataclass(frozen=True)
class Superseded:
    """The lease was taken over: whatever this worker did has been rolled back."""


Verdict = Done | Retry | Fail | HandBack | Superseded
