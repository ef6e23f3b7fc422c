"""Events: accepted, moved from state to state (docs/states.md), and read.

Transitions are guarded: each moves an event only where its state, and the fence of the lane, are still the expected
ones. False or None means superseded, which is no error.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol, TypedDict
from uuid import UUID

from core.domain.event_overview import EventSummary, Narrowed
from core.domain.events import Blocked, EventFilter, EventRecord
from core.domain.work import EventWork, NewEvent
from core.ports.stores.lanes import LaneRef

CatalogueError = dict[str, Any]  # what MemlaneError.as_dict() gives


@dataclass(frozen=True)
class HeldKey:
    """An Idempotency-Key in use. `state` is its event's, None when that is gone; `body_hash` is hex SHA-256.
    `age` is by the database's clock.
    """

    event_id: UUID
    body_hash: str
    age: timedelta
    state: str | None


class EventResult(TypedDict):
    """What a committed event shows, all of it JSON: `results` the stored memories, `outcomes` what became of each
    candidate, `reason` why nothing was stored (None when something was), `usage` what it cost."""

    results: list[dict[str, Any]]
    outcomes: list[dict[str, Any]]
    reason: str | None
    usage: dict[str, Any]


class AcceptedEvents(Protocol):
    """How events come into a lane."""

    def accept(self, project_id: UUID, event: NewEvent, *, names_entities: bool = True) -> None:
        """→ accepted, with the next sequence of its lane, whose row stays locked; makes its scope's entities known.

        A deletion does not make known whom it names: `names_entities` is False then.
        """
        ...

    def requeue(self, project_id: UUID, event_id: UUID, messages: int) -> str | None:
        """failed → accepted, at the end of its lane, where it takes `messages` positions. The lane's key, or None
        when it cannot be: not failed, or its payload gone."""
        ...

    def hold_key(self, project_id: UUID, key: str, body_hash: str, event_id: UUID) -> HeldKey | None:
        """Tie an Idempotency-Key to an event; None when it was free, else what it is tied to. Waits for another
        transaction that is tying the same key."""
        ...

    def move_key(self, project_id: UUID, key: str, body_hash: str, event_id: UUID) -> None:
        """Tie a key that is in use to another event; its life begins anew."""
        ...


class AttemptedEvents(Protocol):
    """What the holder of a lane does with one of its events."""

    def begin(self, lane: LaneRef, event_id: UUID) -> EventWork | None:
        """accepted | retrying | claimed (by a lost worker) → claimed. Counts a crash until the work reports.

        Checks the fence itself, so it may stand alone; None: superseded. The project's settings come with it.
        """
        ...

    def commit(self, lane: LaneRef, event_id: UUID, done: EventResult) -> bool:
        """claimed → committed. An ADD's is `IngestionStore.finish`."""
        ...

    def retry(self, lane: LaneRef, event_id: UUID, after: float, error: CatalogueError, counted: bool = True) -> bool:
        """claimed → retrying, due `after` seconds from now; `counted` = this was a try."""
        ...

    def hand_back(self, lane: LaneRef, event_id: UUID) -> bool:
        """claimed → accepted, by a stopping worker; uncounted."""
        ...

    def fail(self, lane: LaneRef, event_id: UUID, error: CatalogueError) -> bool:
        """claimed → failed."""
        ...


class CommittedEvents(Protocol):
    """What is left of an event once its memories are stored."""

    def stored_by(self, project_id: UUID, event_id: UUID) -> list[UUID]:
        """The memories that an event has stored."""
        ...

    def project(self, event_ids: list[UUID]) -> list[UUID]:
        """committed → projected; the events that were moved."""
        ...

    def defer(self, event_ids: list[UUID], after: float) -> None:
        """committed stays committed; its projection is tried again `after` seconds from now."""
        ...


class EventStore(AcceptedEvents, AttemptedEvents, CommittedEvents, Protocol):
    """All that moves events."""


class EventReads(Protocol):
    """Events as their project's clients read them."""

    def one(self, project_id: UUID, event_id: UUID) -> EventRecord | None: ...

    def blocked(self, project_id: UUID, event: EventRecord) -> Blocked | None:
        """What keeps a waiting event's lane from moving on, if something does."""
        ...

    def count(self, project_id: UUID, narrowed: EventFilter) -> int: ...

    def page(self, project_id: UUID, narrowed: EventFilter, offset: int, limit: int) -> list[EventRecord]:
        """Newest first."""
        ...


class EventOverview(Protocol):
    """Events of all projects as an operator sees them, without a word of what was said."""

    def count(self, narrowed: Narrowed) -> int: ...

    def newest(self, narrowed: Narrowed, limit: int) -> list[EventSummary]: ...

    def oldest(self, narrowed: Narrowed, limit: int, *, after: EventSummary | None = None) -> list[EventSummary]:
        """In order of acceptance; `after`: the last event of the page before."""
        ...
