"""The Celery application of the workers; `celery -A workers.app worker` and `memlane worker` run it."""

from __future__ import annotations

import os
import threading
from typing import Any

from celery.signals import worker_init, worker_shutting_down

from core.adapters.celery_app import celery_app
from core.adapters.collector import calm_collector
from core.container import SettingsError
from core.ports.index import EmbedderConflict
from core.services.synthesize import synthesize_due
from core.services.upkeep import purge_old
from core.settings import Settings
from workers.process import Process, drain_quietly, start
from workers.schedule import SCHEDULE

_settings = Settings()
app = celery_app(_settings.broker_url.get_secret_value() if _settings.broker_url else "memory://", producer=False)
app.conf.beat_schedule = SCHEDULE
_process: Process | None = None


@worker_init.connect
def _start(sender: Any = None, **_: Any) -> None:
    """Celery logs what a signal's receiver raises and goes on without it; SystemExit alone ends the worker."""
    global _process
    kind = os.environ.get("MEMLANE_WORKER_KIND", "ingest")
    calm_collector()
    try:
        _process = start(kind, _settings.worker_concurrency)
    except (SettingsError, EmbedderConflict) as error:
        raise SystemExit(f"memlane worker: {error}") from error


@worker_shutting_down.connect
def _stop(**_: Any) -> None:
    if _process is not None:
        threading.Thread(target=_leave, args=(_process,), name="stop").start()


def _leave(process: Process) -> None:
    """Celery waits for its running tasks for ever; after the hand-back there is nothing left to wait for."""
    if not process.stop():
        os._exit(0)


@app.task(name="memlane.upkeep", ignore_result=True)
def run_upkeep() -> None:
    """Delete what is past its retention; look for patterns where projects want them."""
    if _process is not None:
        purge_old(_process.container.runtime)
        synthesize_due(_process.container.runtime)


@app.task(name="memlane.drain", ignore_result=True)
def drain_lanes() -> None:
    """Work due lanes until none is left; a bare wake-up, so a lost or doubled one does no harm."""
    if _process is not None:
        drain_quietly(_process.executor)


@app.task(name="memlane.deliver", ignore_result=True)
def deliver_webhooks() -> None:
    """Look for due deliveries now; the courier's thread does the work."""
    if _process is not None and _process.courier is not None:
        _process.courier.wake()
