"""Upkeep: scheduled by beat, run by the webhooks worker; safe to run twice or not at all."""

from __future__ import annotations

import time
from dataclasses import dataclass

from core.services.runtime import Runtime

DAY = 86_400.0
BATCH = 1_000
_MOST_SECONDS = 20.0


@dataclass(frozen=True)
class Retention:
    """Seconds that ended things are kept; defaults are those of docs/states.md."""

    payloads: float = 7 * DAY
    events: float = 90 * DAY
    idempotency_keys: float = DAY
    heartbeats: float = DAY
    leases: float = DAY


def purge_old(runtime: Runtime, retention: Retention | None = None) -> dict[str, int]:
    """Delete what is past its retention, in batches; what does not fit into 20 s waits for the next run.

    Raises DatabaseUnavailable.
    """
    ends = time.monotonic() + _MOST_SECONDS
    counts = {}
    for kind, seconds in vars(retention or Retention()).items():
        started, rows = time.monotonic(), 0
        while time.monotonic() < ends:
            with runtime.database.operations() as tx:
                batch = tx.retention.purge(kind, seconds, BATCH)
            rows += batch
            if batch < BATCH:
                break
        counts[kind] = rows
        if rows:
            ms = (time.monotonic() - started) * 1000
            runtime.telemetry.emit("upkeep", task=f"purge_{kind}", outcome="done", rows=rows, ms=ms)
    return counts
