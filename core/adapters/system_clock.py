"""The clock of the machine, and one that nobody sets."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class SteadyClock:
    """Runs on from the machine's time at the start of the process: for spans within it, which no jump may change."""

    def __init__(self) -> None:
        self._started, self._mark = datetime.now(UTC), time.monotonic()

    def now(self) -> datetime:
        return self._started + timedelta(seconds=time.monotonic() - self._mark)
