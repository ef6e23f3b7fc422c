"""What an operator asks about events, and what is told of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from core.domain.events import EventState


@dataclass(frozen=True)
class Narrowed:
    """What a look at events is narrowed by; empty means all. `within` is how long ago they ended,
    or else moved last.

    `retryable`: failed, and the payload still there.
    """

    project_id: UUID | None = None
    ids: Sequence[UUID] = ()
    states: Sequence[EventState] = ()
    codes: Sequence[str] = ()
    within: timedelta | None = None
    retryable: bool = False


@dataclass(frozen=True)
class EventSummary:
    """`code` and `detail` are the error's, of the catalogue; `messages` counts those of the payload."""

    id: UUID
    project_id: UUID
    event_type: str
    state: EventState
    lane_key: str
    seq: int
    tries: int
    crashes: int
    created_at: datetime
    completed_at: datetime | None
    due_at: datetime
    code: str | None
    detail: str | None
    has_payload: bool
    messages: int
