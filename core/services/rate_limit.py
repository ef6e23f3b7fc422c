"""Rate limits of keys: requests a minute, counted for all processes together.

A process takes tokens from the shared bucket by the handful (a hundredth of the limit at most) and spends them
without asking; so most requests cost no round trip, and what a process may hold unspent is one in a hundred.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from core.ports.database import DatabaseUnavailable
from core.ports.identity import Identity
from core.ports.limits import Buckets

FRESH_SECONDS = 1.0  # how long a limit that was read, or a refusal, holds
SETTING = "rate_limit_per_minute"
_MOST_KEYS = 10_000


@dataclass(frozen=True)
class Allowance:
    """`limit` 0: unlimited. `reset`: whole seconds until all of it is there again. `retry_after`: refused."""

    limit: int
    remaining: int = 0
    reset: int = 0
    retry_after: int | None = None


@dataclass
class _Purse:
    """What this process holds of one key's tokens."""

    limit: int
    read_at: float
    tokens: int = 0
    shared: int = 0  # left in the bucket when it was last asked
    handful: int = 1
    refused_until: float = 0.0
    wait: float = 0.0


class RateLimiter:
    """Shared by all requests of a process."""

    def __init__(
        self, buckets: Buckets, limit_of: Callable[[UUID], int], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._buckets = buckets
        self._limit_of = limit_of
        self._now = now
        self._lock = threading.Lock()
        self._asking = threading.Lock()
        self._purses: dict[UUID, _Purse] = {}

    def spend(self, identity: Identity) -> Allowance | None:
        """One request's token, without waiting; None: `fetch` has to be asked, which may wait."""
        with self._lock:
            purse, now = self._purses.get(identity.key_id), self._now()
            if purse is None or now - purse.read_at > FRESH_SECONDS:
                return None
            if purse.limit == 0:
                return Allowance(0)
            if purse.tokens > 0:
                purse.tokens -= 1
                return _allowance(purse)
            if now < purse.refused_until:
                return _allowance(purse, refused=purse.wait)
            return None

    def fetch(self, identity: Identity) -> Allowance:
        """One request's token, after a look at the limit and into the shared bucket."""
        with self._asking:
            found = self.spend(identity)  # another request may have fetched meanwhile
            if found is not None:
                return found
            purse = self._read(identity)
            if purse.limit == 0:
                return Allowance(0)
            return self.spend(identity) or self._fill(identity.key_id, purse)

    def close(self) -> None:
        self._buckets.close()

    def _read(self, identity: Identity) -> _Purse:
        limit = self._limit_of(identity.project_id)
        with self._lock:
            purse = self._purses.get(identity.key_id)
            if purse is None or purse.limit != limit:
                if len(self._purses) >= _MOST_KEYS:
                    self._purses.clear()
                purse = self._purses[identity.key_id] = _Purse(limit, 0.0)
            purse.read_at = self._now()
        return purse

    def _fill(self, key_id: UUID, purse: _Purse) -> Allowance:
        """One of the tokens is the asker's own, so that no other request can spend it first."""
        taken = self._buckets.take(str(key_id), purse.limit, purse.handful)
        with self._lock:
            purse.shared = taken.remaining
            purse.handful = min(purse.handful * 2, max(1, purse.limit // 100))
            if taken.granted:
                purse.tokens = taken.granted - 1
                return _allowance(purse)
            purse.wait = taken.wait
            purse.refused_until = self._now() + min(taken.wait, FRESH_SECONDS)
            return _allowance(purse, refused=purse.wait)


def _allowance(purse: _Purse, refused: float | None = None) -> Allowance:
    remaining = purse.tokens + purse.shared
    reset = math.ceil((purse.limit - remaining) * 60 / purse.limit)
    if refused is None:
        return Allowance(purse.limit, remaining, reset)
    return Allowance(purse.limit, 0, reset, max(1, math.ceil(refused)))


def limits_of(read: Callable[[UUID], object], default: int) -> Callable[[UUID], int]:
    """A project's own limit, or the server's; the server's too while the database is away.

    `read` gives the project's setting, None where it has none.
    """

    def limit(project_id: UUID) -> int:
        try:
            own = read(project_id)
        except DatabaseUnavailable:
            return default
        return own if isinstance(own, int) and not isinstance(own, bool) else default

    return limit
