"""A circuit breaker per model, in process: while a provider is down, work waits instead of knocking."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta

from core.ports.models import ModelError

_LAST = 10  # calls that are looked at
_FAILURES = 5  # of these, about the provider, open the breaker
_FIRST_PAUSE = 5.0  # seconds; doubles with each failed probe
_LONGEST_PAUSE = 120.0


class Breaker:
    """closed → open (5 provider failures among the last 10 calls, or one Retry-After) → half-open (one probe)
    → closed, or open again for twice as long.

    Failures about the input count as answers: a provider that refuses is up. `now` is the clock (aware).
    Thread-safe.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._failed: deque[bool] = deque(maxlen=_LAST)
        self._open_until: datetime | None = None
        self._pause = _FIRST_PAUSE
        self._probe_ends: datetime | None = None

    @property
    def open(self) -> bool:
        """True from opening until a call has succeeded again."""
        with self._lock:
            return self._open_until is not None

    def allow(self, seconds: float = 60.0) -> float | None:
        """None = go ahead; else the seconds to wait before asking again.

        While half-open, the first caller gets None and the others wait for its report, at most `seconds`,
        the deadline of the call: a prober that never reports does not close the way for ever.
        """
        with self._lock:
            if self._open_until is None:
                return None
            now = self._now()
            if now < self._open_until:
                return (self._open_until - now).total_seconds()
            if self._probe_ends is not None and now < self._probe_ends:
                return min(1.0, (self._probe_ends - now).total_seconds())
            self._probe_ends = now + timedelta(seconds=seconds)
            return None

    def release(self) -> None:
        """A call that was let through says nothing about the provider; the next one may be the probe."""
        with self._lock:
            self._probe_ends = None

    def record(self, error: ModelError | None) -> None:
        """Reports a call that was let through: None for success."""
        with self._lock:
            failed = error is not None and error.about == "provider"
            self._failed.append(failed)
            if not failed:
                # a late answer of a call begun before the outage also shows that the provider is back
                if self._open_until is not None:
                    self._failed.clear()
                self._open_until, self._probe_ends, self._pause = None, None, _FIRST_PAUSE
                return
            probing = self._probe_ends is not None
            if probing:
                self._pause = min(self._pause * 2, _LONGEST_PAUSE)
            wait = error.retry_after if error is not None else None
            if wait is not None or probing or sum(self._failed) >= _FAILURES:
                self._open_for(self._pause if wait is None else wait)

    def _open_for(self, seconds: float) -> None:
        until = self._now() + timedelta(seconds=seconds)
        self._open_until = max(until, self._open_until or until)
        self._probe_ends = None


class Breakers:
    """One breaker for each (provider, model); `key` is any string that names both."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._breakers: dict[str, Breaker] = {}

    def of(self, key: str) -> Breaker:
        with self._lock:
            return self._breakers.setdefault(key, Breaker(self._now))

    def blocked(self) -> list[str]:
        """Keys whose breaker is open, for /readyz and metrics."""
        with self._lock:
            items = list(self._breakers.items())
        return [key for key, breaker in items if breaker.open]
