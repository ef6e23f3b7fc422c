"""Webhooks and deliveries as their project sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True)
class Webhook:
    """An endpoint. `secret` and `old_secret` are encrypted; the latter signs too, while its time lasts."""

    id: UUID
    project_id: UUID
    name: str
    url: str
    event_types: list[str]
    is_active: bool
    created_at: datetime
    updated_at: datetime
    secret: bytes = b""
    old_secret: bytes | None = None
    old_secret_until: datetime | None = None
    retry_schedule: Sequence[float] | None = None
    disabled_reason: str | None = None
    failing_since: datetime | None = None


@dataclass(frozen=True)
class Delivery:
    """One message to one endpoint; its id is the `webhook-id` of every attempt."""

    id: UUID
    project_id: UUID
    webhook_id: UUID
    event_type: str
    state: str  # waiting | delivered | exhausted | cancelled
    attempts: int
    created_at: datetime
    memory_id: UUID | None = None
    event_id: UUID | None = None
    body: bytes | None = None
    due_at: datetime | None = None
    last_status: int | None = None
    last_error: str | None = None
    ended_at: datetime | None = None

    @property
    def message_id(self) -> str:
        return f"msg_{self.id.hex}"


@dataclass(frozen=True)
class AttemptRecord:
    number: int
    at: datetime
    ms: float
    status: int | None
    error: str | None
    response: str | None
