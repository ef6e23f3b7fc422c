"""A candidate of a search as the truth has it: what ranking needs, and the whole memory on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from core.domain.memory import Memory


@dataclass(slots=True)  # frozen ones take three times as long to make, and a search makes hundreds
class Recalled:
    """Hundreds are ranked and a few are shown, so the rest is never made into memories. Nobody changes one."""

    id: UUID
    text: str
    scope_key: str
    lane_key: str
    position: int
    said_at: datetime
    run_id: str | None
    actor_id: str | None
    event_date: date | None
    superseded: bool
    replaced_by: UUID | None
    valid_to: datetime | None
    expiration_date: date | None
    memory: Callable[[], Memory]
