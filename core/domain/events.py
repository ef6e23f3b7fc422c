"""The life of an event: its states, who may move it where, and what clients see of it. Drawn in docs/states.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from core.domain.scope import Scope


class EventState(StrEnum):
    """Stored states. The wire knows four words only (`WIRE_STATUS`)."""

    ACCEPTED = "accepted"  # written by accept, waiting for its lane
    CLAIMED = "claimed"  # a worker that holds the lane's lease works on it
    RETRYING = "retrying"  # a reported failure; due again at due_at; blocks its lane
    COMMITTED = "committed"  # its memories are in PostgreSQL; can only succeed from here (erasure excepted)
    PROJECTED = "projected"  # searchable; ended well
    FAILED = "failed"  # ended with an error of the catalogue


OPEN_STATES = (EventState.ACCEPTED, EventState.CLAIMED, EventState.RETRYING, EventState.COMMITTED)
ENDED_STATES = (EventState.PROJECTED, EventState.FAILED)

TRANSITIONS: dict[EventState, tuple[EventState, ...]] = {
    EventState.ACCEPTED: (EventState.CLAIMED, EventState.FAILED),
    EventState.CLAIMED: (
        EventState.COMMITTED,
        EventState.RETRYING,
        EventState.ACCEPTED,  # handed back by a stopping worker
        EventState.FAILED,
    ),
    EventState.RETRYING: (EventState.CLAIMED, EventState.FAILED),
    EventState.COMMITTED: (EventState.PROJECTED, EventState.FAILED),  # FAILED: erased only
    EventState.PROJECTED: (),
    EventState.FAILED: (EventState.ACCEPTED,),  # requeued by a person, with a new sequence
}

WIRE_STATUS: dict[EventState, str] = {
    EventState.ACCEPTED: "PENDING",
    EventState.RETRYING: "PENDING",
    EventState.CLAIMED: "RUNNING",
    EventState.COMMITTED: "RUNNING",
    EventState.PROJECTED: "SUCCEEDED",
    EventState.FAILED: "FAILED",
}

EVENT_TYPES = ("ADD", "UPDATE", "DELETE", "SEARCH", "GET_ALL", "GET", "DELETE_ALL", "DELETE_USER")


@dataclass(frozen=True)
class EventFilter:
    """What a listing of events is narrowed by; empty means all. `ids` are (entity field, value)."""

    event_types: tuple[str, ...] = ()
    states: tuple[EventState, ...] = ()
    ids: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Blocked:
    """The retrying event that an event of the same lane waits for."""

    by: UUID
    since: datetime
    until: datetime


@dataclass(frozen=True)
class EventRecord:
    """An event as its project may read it; times are aware and in UTC."""

    id: UUID
    event_type: str
    state: EventState
    scope: Scope
    created_at: datetime
    updated_at: datetime
    lane_key: str = ""
    payload: dict[str, Any] | None = None
    source: str | None = None
    tries: int = 0
    crashes: int = 0
    error: dict[str, Any] | None = None
    results: Sequence[dict[str, Any]] = ()
    outcomes: Sequence[dict[str, Any]] = ()
    reason: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    due_at: datetime | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    blocked: Blocked | None = None

    @property
    def status(self) -> str:
        """PENDING | RUNNING | SUCCEEDED | FAILED."""
        return WIRE_STATUS[self.state]

    @property
    def ended(self) -> bool:
        return self.state in ENDED_STATES
