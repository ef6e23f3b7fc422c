"""The executor: one attempt at one event, its verdict, and the storage of that verdict.

The one place besides the telemetry sink where every exception is caught: whatever a handler raises becomes
a value (Done | Retry | Fail | …) and is stored by a guarded transition.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

from core.domain.erasure import DELETE_USER
from core.domain.errors import MemlaneError
from core.domain.work import Done, EventWork, Fail, HandBack, Retry, Superseded, Verdict
from core.ports.database import (
    PASSING,
    DatabaseUnavailable,
    DueEvent,
    LaneRef,
    TransactionConflict,
    UniqueViolation,
)
from core.ports.index import IndexUnavailable
from core.ports.models import BreakerOpen, ModelError
from core.services.backoff import retry_delay
from core.services.commit import LostClaim
from core.services.delete_all import DELETE_ALL
from core.services.runtime import Runtime
from core.services.worker import Worker

Handler = Callable[[Runtime, LaneRef, EventWork], Done | Superseded]
_CONFLICT_TRIES = 5
_PAUSE_SECONDS = 0.2  # before a verdict that could not be stored is tried again
# Deletions were answered as done: their jobs hold no input that could be poison, and go on where a worker was lost.
_OWED = (DELETE_ALL, DELETE_USER)
_NO_TRY = (BreakerOpen, DatabaseUnavailable)  # what says nothing about the event


@dataclass(frozen=True)
class Executor:
    """Runs events by type; `handlers` maps event_type to the service that does its work."""

    worker: Worker
    handlers: Mapping[str, Handler]

    def attempt(self, lane: LaneRef, event: DueEvent) -> Verdict:
        """Work on a due event and store what came of it. Raises DatabaseUnavailable when that is impossible.

        The gate is passed before the event begins and left when its verdict is stored: while a suspect runs
        alone, no other event of the process counts as begun, and none can be taken along.
        """
        try:
            with self.worker.gate.passing(alone=event.crashes > 0):
                if self.worker.stopping.is_set():
                    return HandBack()
                return self._attempt(lane, event.id)
        except PASSING:
            self._give_back(lane, event.id)
            raise

    def _give_back(self, lane: LaneRef, event_id: UUID) -> None:
        """The database took no verdict: this worker lives, so the event counts no crash. Tried for one lease."""
        runtime = self.worker.runtime
        until = time.monotonic() + runtime.limits.lease_seconds
        while not self.worker.lost(lane):
            try:
                with runtime.database.transaction(lane.project_id) as tx:
                    if tx.lanes.holds(lane):
                        tx.events.hand_back(lane, event_id)
                return
            except PASSING:
                if time.monotonic() > until or self.worker.stopping.wait(_PAUSE_SECONDS):
                    return

    def _attempt(self, lane: LaneRef, event_id: UUID) -> Verdict:
        started = time.monotonic()
        runtime = self.worker.runtime
        with runtime.database.statements(lane.project_id) as tx:
            work = tx.events.begin(lane, event_id)
        if work is None:
            return Superseded()
        self.worker.working_on(lane, event_id)
        runtime.crash.reach("begin")
        verdict = self._judge(lane, work)
        settled = _settle(runtime, lane, work, verdict)
        self._tell(work, settled, (time.monotonic() - started) * 1000)
        return settled

    def _judge(self, lane: LaneRef, work: EventWork) -> Verdict:
        if work.crashes >= self.worker.runtime.limits.max_crashes and work.event_type not in _OWED:
            return Fail(MemlaneError("worker_lost").as_dict())
        return self._run(self.handlers[work.event_type], lane, work)

    def _run(self, handler: Handler, lane: LaneRef, work: EventWork) -> Verdict:
        began = time.monotonic()
        failure: Exception
        for _ in range(_CONFLICT_TRIES):
            try:
                return handler(self.worker.runtime, lane, work)
            except (TransactionConflict, UniqueViolation):
                continue  # a deadlock, or a text that another lane stored first: the same work, counted as nothing
            except LostClaim:
                return Superseded()
            except Exception as error:  # noqa: BLE001 - the executor's edge: see the module's docstring
                failure = error
                break
        else:
            failure = TransactionConflict("the transaction met a conflict again and again")
        return self._verdict(work, failure, work.age + time.monotonic() - began)

    def _verdict(self, work: EventWork, error: Exception, age: float) -> Verdict:
        """`age`: seconds, as the database counts them."""
        limits = self.worker.runtime.limits
        told = _as_catalogue(error)
        self.worker.runtime.telemetry.emit("event_error", event_id=str(work.id), code=told.code, error=error)
        if isinstance(error, MemlaneError):
            return Fail(told.as_dict())
        away = isinstance(error, IndexUnavailable | DatabaseUnavailable)
        outage = away or (isinstance(error, ModelError) and error.about == "provider")
        if not outage and (work.tries + 1 >= limits.input_tries or age > limits.input_age):
            return Fail(told.as_dict())
        after = retry_delay(work.tries, getattr(error, "retry_after", None))
        if age + after > limits.max_event_age:
            return Fail(told.as_dict())
        return Retry(after, told.as_dict(), counted=not isinstance(error, _NO_TRY))

    def _tell(self, work: EventWork, verdict: Verdict, ms: float) -> None:
        error = verdict.error if isinstance(verdict, Retry | Fail) else {}
        self.worker.events_done += 1
        self.worker.runtime.telemetry.emit(
            "event_attempt",
            event_id=str(work.id),
            project_id=str(work.project_id),
            event_type=work.event_type,
            outcome="snooze" if isinstance(verdict, Retry) and not verdict.counted else _WORDS[type(verdict)],
            code=error.get("code"),
            ms=ms,
            tries=work.tries,
            crashes=work.crashes,
        )


_WORDS: dict[type, str] = {
    Done: "done",
    Retry: "retry",
    Fail: "fail",
    HandBack: "handed_back",
    Superseded: "superseded",
}


def _as_catalogue(error: Exception) -> MemlaneError:
    """The error object that the event will show."""
    if isinstance(error, MemlaneError):
        return error
    if isinstance(error, ModelError):
        return MemlaneError(error.code, str(error))
    if isinstance(error, IndexUnavailable):
        return MemlaneError(error.code)
    if isinstance(error, DatabaseUnavailable):
        return MemlaneError("database_unavailable")
    return MemlaneError("internal")


def _settle(runtime: Runtime, lane: LaneRef, work: EventWork, verdict: Verdict) -> Verdict:
    """Store the verdict under the fence; Superseded when the lane was taken over meanwhile."""
    if isinstance(verdict, Done | Superseded):
        return verdict
    with runtime.database.transaction(lane.project_id) as tx:
        if not tx.lanes.holds(lane):
            return Superseded()
        if isinstance(verdict, Retry):
            moved = tx.events.retry(lane, work.id, verdict.after, verdict.error, verdict.counted)
        elif isinstance(verdict, Fail):
            moved = tx.events.fail(lane, work.id, verdict.error)
        else:
            moved = tx.events.hand_back(lane, work.id)
    return verdict if moved else Superseded()
