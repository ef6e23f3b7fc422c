"""One worker process: the container, the heartbeat, the sweep, and a graceful stop."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from core.adapters.metrics import Metrics
from core.adapters.telemetry import SignalTelemetry, configure_logging
from core.container import Container, build
from core.domain.erasure import DELETE_USER
from core.ports.database import PASSING, DatabaseUnavailable
from core.ports.index import EmbedderConflict, IndexUnavailable
from core.services.attempt import Executor, Handler
from core.services.calls import Calls
from core.services.categorize import categorize_due
from core.services.delete_all import DELETE_ALL
from core.services.deliver import Courier
from core.services.drain import drain
from core.services.erase import erase_job
from core.services.ingest import ingest
from core.services.purge import purge
from core.services.sweep import sweep
from core.services.worker import Worker
from core.settings import Settings

STOP_SECONDS = 20.0
HANGING = 75  # exit status
HANDLERS: dict[str, Handler] = {"ADD": ingest, DELETE_ALL: purge, DELETE_USER: erase_job}


@dataclass(frozen=True)
class Process:
    container: Container
    executor: Executor
    sweeper: ThreadPoolExecutor
    threads: tuple[threading.Thread, ...]
    courier: Courier | None = None

    @property
    def worker(self) -> Worker:
        return self.executor.worker

    def stop(self) -> bool:
        """Stop claiming, wait up to 20 s for what is running, hand the rest back, and leave no heartbeat.

        False when something was still running and was handed back.
        """
        self.worker.stopping.set()
        self.sweeper.shutdown(wait=False, cancel_futures=True)
        idle = self.worker.wait_idle(STOP_SECONDS)
        try:
            if not idle:
                self.worker.hand_back()
            with self.container.database.operations() as tx:
                tx.ops.forget(self.worker.name)
        except PASSING:
            self.container.runtime.telemetry.emit("process", part=self.worker.kind, change="stopped_without_database")
        self.container.close()
        return idle


def start(kind: str, slots: int) -> Process:
    """Build and start a worker process; `kind` is its queue (ingest, webhooks). Raises SettingsError."""
    settings = Settings()
    metrics = Metrics()
    writer = configure_logging(settings.log_level, settings.log_format)
    telemetry = SignalTelemetry(writer, metrics)
    if settings.metrics_port and not metrics.serve(settings.host, settings.metrics_port):
        telemetry.emit("process", part=kind, change="metrics_port_taken", port=settings.metrics_port)
    container = build(settings, telemetry, threads=slots + 3, worker=True)
    executor = Executor(Worker(container.runtime, kind, slots), HANDLERS)
    sweeper = ThreadPoolExecutor(slots, thread_name_prefix="sweep")
    threads = [threading.Thread(target=executor.worker.beat_until_stopped, name="heartbeat", daemon=True)]
    if settings.sweep_seconds > 0 and kind == "ingest":
        args = (executor, sweeper, settings.sweep_seconds, slots)
        threads.append(threading.Thread(target=_sweep, args=args, name="sweep", daemon=True))
    courier = None
    if kind == "webhooks":
        courier = Courier(container.runtime, container.webhooks)
        run = (executor.worker.stopping, max(settings.sweep_seconds, 0.5))
        threads.append(threading.Thread(target=courier.run, args=run, name="courier", daemon=True))
        if container.runtime.models.chat is not None:
            look = (executor.worker, max(settings.sweep_seconds, 0.5))
            threads.append(threading.Thread(target=_categorize, args=look, name="categorize", daemon=True))
    watch = (executor.worker, container.calls, settings.call_grace_seconds, writer.flush)
    threads.append(threading.Thread(target=_watch, args=watch, name="watchdog", daemon=True))
    for thread in threads:
        thread.start()
    _prepare(container)
    telemetry.emit("process", part=kind, change="started", pid=os.getpid())
    return Process(container, executor, sweeper, tuple(threads), courier)


def _watch(worker: Worker, calls: Calls, grace: float, flush: Callable[[], object]) -> None:
    """Ends the process when a call of a slot hangs; the supervisor starts it again, and the event counts a crash."""
    while not worker.stopping.wait(min(grace / 2, 1.0)):
        late = calls.overdue(grace)
        if late is not None:
            worker.runtime.telemetry.emit("process", part=worker.kind, change="hanging", detail=late, pid=os.getpid())
            flush()
            os._exit(HANGING)


def _prepare(container: Container) -> None:
    """Create the collection and load the embedder now, not at the first event. Raises EmbedderConflict.

    Parts that are away are no reason not to start: work waits for them as it does at any other time.
    """
    try:
        container.runtime.collections.current()
    except EmbedderConflict:
        raise
    except (DatabaseUnavailable, IndexUnavailable) as error:
        container.runtime.telemetry.emit("process", part="worker", change="waiting", detail=str(error)[:200])


def _sweep(executor: Executor, pool: ThreadPoolExecutor, period: float, slots: int) -> None:
    """Every period: each free slot looks for due lanes, as if woken, and missed projections are made up for."""
    worker = executor.worker
    while not worker.stopping.wait(period):
        try:
            for _ in range(slots - worker.busy()):
                pool.submit(drain_quietly, executor)
            sweep(executor)
        except PASSING as error:
            worker.runtime.telemetry.emit("sweep", outcome="database_unavailable", detail=str(error)[:200])
        except RuntimeError:
            if not worker.stopping.is_set():
                raise
            return  # the pool was shut down between the two lines


def _categorize(worker: Worker, period: float) -> None:
    """Categories of changed texts, until the process stops; in a thread, so that nothing else waits for the model."""
    busy = False
    while not worker.stopping.wait(0.0 if busy else period):
        try:
            busy = categorize_due(worker.runtime) > 0
        except PASSING as error:
            busy = False
            worker.runtime.telemetry.emit(
                "upkeep", task="categorize", outcome="database_unavailable", detail=str(error)[:200]
            )


def drain_quietly(executor: Executor) -> None:
    """A drain whose database went away, or that met a lock for too long, is over; the next sweep comes again."""
    try:
        drain(executor)
    except PASSING as error:
        executor.worker.runtime.telemetry.emit("sweep", outcome="database_unavailable", detail=str(error)[:200])
