"""Drain: claim due lanes and work their events in sequence, until nothing is due."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from core.domain.events import EventState
from core.domain.work import Done, HandBack, Retry, Superseded
from core.ports.database import DueEvent, LaneRef, TransactionConflict
from core.ports.index import IndexUnavailable
from core.services.attempt import Executor
from core.services.backoff import retry_delay
from core.services.project import project_in
from core.services.runtime import Runtime

_FLUSH_SECONDS = 0.15  # committed events wait at most this long for the rest of their turn


def drain(executor: Executor) -> int:
    """Work until no lane is due or the process stops; returns the number of events worked on.

    Raises DatabaseUnavailable: the wake-up is over, the sweep comes again.
    """
    worker = executor.worker
    worked = 0
    with worker.slot() as free:
        while free and not worker.stopping.is_set():
            lane, due = _take(executor)
            if lane is None:
                break
            with worker.holding(lane):
                worked += _Turn(executor, lane).run(due)
    return worked


def _take(executor: Executor) -> tuple[LaneRef | None, list[DueEvent]]:
    """A lane to work on, and its due events."""
    runtime = executor.worker.runtime
    with runtime.database.autocommit() as tx:
        lane = tx.lanes.take(executor.worker.name, runtime.limits.lease_seconds)
        return lane, tx.lanes.due(lane, runtime.limits.turn_events) if lane else []


@dataclass
class _Turn:
    """One lane, from claim to release: at most `turn_events` events, so that no hot lane starves the others."""

    executor: Executor
    lane: LaneRef
    pending: list[Done] = field(default_factory=list)
    oldest: float = 0.0
    worked: int = 0

    def run(self, due: list[DueEvent]) -> int:
        runtime = self.executor.worker.runtime
        limit = runtime.limits.turn_events
        while True:
            going = self._work(due) and self._flush()
            full = self.worked >= limit
            with runtime.database.autocommit() as tx:
                over = full or not going
                released = tx.lanes.let_go(self.lane) if over else tx.lanes.release(self.lane)
                due = [] if released or over else tx.lanes.due(self.lane, limit - self.worked)
            if not due:
                if full:
                    runtime.queue.wake("ingest", f"{self.lane.project_id}:{self.lane.lane_key}")
                return self.worked

    def _work(self, due: Sequence[DueEvent]) -> bool:
        """False: stop here and let the lane go (superseded, stopping)."""
        for event in due:
            if event.state == EventState.COMMITTED:
                self._committed(self._recovered(event.id))
                continue
            verdict = self.executor.attempt(self.lane, event)
            self.worked += 1
            if isinstance(verdict, Done):
                self._committed(verdict)
            elif isinstance(verdict, Superseded | HandBack):
                self._flush()
                return False
            elif isinstance(verdict, Retry):
                return True  # it blocks its lane until it is due again
            if self.pending and time.monotonic() - self.oldest > _FLUSH_SECONDS and not self._flush():
                return False
        return True

    def _committed(self, done: Done) -> None:
        if not self.pending:
            self.oldest = time.monotonic()
        self.pending.append(done)

    def _recovered(self, event_id: UUID) -> Done:
        """An event that was committed by a worker that did not come to project it."""
        self.worked += 1
        with self.executor.worker.runtime.database.transaction(self.lane.project_id) as tx:
            return Done(event_id, tuple(tx.events.stored_by(self.lane.project_id, event_id)))

    def _flush(self) -> bool:
        """Project what is committed, and end those events; False: the lane is lost or the index away."""
        if not self.pending:
            return True
        runtime = self.executor.worker.runtime
        done, self.pending = self.pending, []
        try:
            return _finish(runtime, self.lane, done)
        except (IndexUnavailable, TransactionConflict) as error:
            runtime.telemetry.emit("projection", outcome="deferred", points=len(done), detail=str(error)[:200])
            with runtime.database.transaction(self.lane.project_id) as tx:
                tx.events.defer([item.event_id for item in done], retry_delay(1, None))
            return False


def _finish(runtime: Runtime, lane: LaneRef, done: Sequence[Done]) -> bool:
    """One upsert and one transition for the events of a turn."""
    memory_ids = list(dict.fromkeys(id_ for item in done for id_ in item.memory_ids))
    with runtime.database.transaction(lane.project_id) as tx:
        held = tx.ingestion.enter(lane, [])
        if held is None:
            return False
        runtime.crash.reach("project")
        if memory_ids:
            project_in(runtime, tx, lane.project_id, memory_ids, held)
        runtime.crash.reach("projected")
        tx.events.project([item.event_id for item in done])
    return True
