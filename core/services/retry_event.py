"""Retry: a person queues failed events again, each with a new sequence at the end of its lane."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from core.domain.errors import MemlaneError
from core.domain.event_overview import EventSummary, Narrowed
from core.domain.events import EventRecord
from core.ports.database import Database
from core.ports.runtime import WorkQueue
from core.services.read_events import read_event
from core.services.runtime import Runtime

BATCH = 1_000


def retry_event(runtime: Runtime, project_id: UUID, event_id: str) -> EventRecord:
    """Returns the event, PENDING again. Raises MemlaneError: `event_not_found`, `event_not_retryable` (not failed,
    or its payload is gone by retention or erasure)."""
    event = read_event(runtime.database, project_id, event_id)
    messages = len((event.payload or {}).get("messages") or [])
    if not _requeue(runtime.database, runtime.queue, project_id, event.id, messages):
        raise MemlaneError("event_not_retryable")
    return read_event(runtime.database, project_id, event_id)


def retry_failed(database: Database, queue: WorkQueue, narrowed: Narrowed) -> int:
    """Queue again what has failed and can be, oldest first, of every project that is not narrowed out; how many.

    Each is moved in a transaction of its own: what a stopped run has moved stays moved. Each is looked at once: what
    fails again meanwhile is left as it is, or a run over events that cannot succeed would never end.
    """
    wanted, moved = replace(narrowed, retryable=True), 0
    last: EventSummary | None = None
    while True:
        with database.operations() as tx:
            batch = tx.event_overview.oldest(wanted, BATCH, after=last)
        moved += sum(_requeue(database, queue, e.project_id, e.id, e.messages) for e in batch)
        if len(batch) < BATCH:
            return moved
        last = batch[-1]


def _requeue(database: Database, queue: WorkQueue, project_id: UUID, event_id: UUID, messages: int) -> bool:
    with database.transaction(project_id) as tx:
        lane_key = tx.events.requeue(project_id, event_id, messages)
    if lane_key is not None:
        queue.wake("ingest", f"{project_id}:{lane_key}")
    return lane_key is not None
