"""Upkeep: scheduled by beat, run by the webhooks worker; safe to run twice or not at all."""

from __future__ import annotations

import time

from core.domain.retention import OF_PROJECTS, OF_SERVER
from core.services.runtime import Runtime

BATCH = 1_000
_MOST_SECONDS = 20.0


def purge_old(runtime: Runtime) -> dict[str, int]:
    """Delete what is past its retention, in batches; what does not fit into 20 s waits for the next run.

    Returns kind → rows. Raises DatabaseUnavailable.
    """
    ends = time.monotonic() + _MOST_SECONDS
    counts = {}
    for kind, days in {**OF_PROJECTS, **OF_SERVER}.items():
        started, rows = time.monotonic(), 0
        while time.monotonic() < ends:
            with runtime.database.operations() as tx:
                batch = tx.retention.purge(kind, days, BATCH)
            rows += batch
            if batch < BATCH:
                break
        counts[kind] = rows
        if rows:
            ms = (time.monotonic() - started) * 1000
            runtime.telemetry.emit("upkeep", task=f"purge_{kind}", outcome="done", rows=rows, ms=ms)
    return counts
