"""Ports to the outside of the process: wake-ups, time, limits, events for telemetry."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Protocol


class WorkQueue(Protocol):
    """A wake-up hint for workers. Never blocks, never raises: the sweep covers what is lost."""

    def wake(self, queue: str = "ingest", key: str = "") -> None:
        """Ask for one worker. Wakes of one (queue, key) that are not sent yet count once."""
        ...

    def reachable(self) -> bool:
        """Whether wake-ups get through at this moment; never raises."""
        ...

    def close(self) -> None: ...


class Clock(Protocol):
    def now(self) -> datetime:
        """Aware, UTC."""
        ...


class Telemetry(Protocol):
    """Where services report what happened: one wide record per attempt. Never raises."""

    def emit(self, name: str, **fields: Any) -> None: ...
