"""Retry: a person queues failed events again, each with a new sequence at the end of its lane."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from core.domain.errors import MemlaneError
from core.domain.events import EventRecord
from core.services.read_events import read_event
from core.services.runtime import Runtime

MOST_AT_ONCE = 10_000


def retry_event(runtime: Runtime, project_id: UUID, event_id: str) -> EventRecord:
    """Returns the event, PENDING again. Raises MemlaneError: `event_not_found`, `event_not_retryable` (not failed,
    or its payload is gone by retention or erasure)."""
    event = read_event(runtime.database, project_id, event_id)
    if not _requeue(runtime, project_id, event):
        raise MemlaneError("event_not_retryable")
    return read_event(runtime.database, project_id, event_id)


def retry_failed_since(runtime: Runtime, project_id: UUID, since: datetime) -> int:
    """Queue again what has failed since then and can be; how many, at most `MOST_AT_ONCE`."""
    with runtime.database.transaction(project_id) as tx:
        ids = tx.events.failed_since(project_id, since, MOST_AT_ONCE)
    events = [read_event(runtime.database, project_id, str(id_)) for id_ in ids]
    return sum(_requeue(runtime, project_id, event) for event in events)


def _requeue(runtime: Runtime, project_id: UUID, event: EventRecord) -> bool:
    messages = len((event.payload or {}).get("messages") or [])
    with runtime.database.transaction(project_id) as tx:
        lane_key = tx.events.requeue(project_id, event.id, messages)
    if lane_key is not None:
        runtime.queue.wake("ingest", f"{project_id}:{lane_key}")
    return lane_key is not None
