"""The sweep: what makes a lost wake-up cost about two seconds, and a missed projection not much more."""

from __future__ import annotations

import time

from core.ports.index import IndexUnavailable
from core.services.attempt import Executor
from core.services.project import sweep_projections

_LEADER_KEY = 0x53574545  # "SWEE"
_PROJECTION_AGE = 3.0


def sweep(executor: Executor) -> int:
    """Project what was missed; the sweeping process's slots look for due lanes beside this. Returns rows seen.

    Every worker process sweeps; the one that gets the advisory lock does the work. Raises DatabaseUnavailable.
    """
    started = time.monotonic()
    runtime = executor.worker.runtime
    with runtime.database.operations() as tx:
        if not tx.lanes.lead(_LEADER_KEY):
            return 0
        try:
            if lost := runtime.collections.repair():
                runtime.telemetry.emit("projection", outcome="restored", points=lost)
            projected = sweep_projections(runtime, older_than=_PROJECTION_AGE)
        except IndexUnavailable as error:
            runtime.telemetry.emit("projection", outcome="deferred", detail=str(error)[:200])
            return 0
    if projected:
        runtime.telemetry.emit("sweep", found=projected, ms=(time.monotonic() - started) * 1000)
    return projected
