"""Token buckets: in Redis or Valkey for all processes together, in this process where there is none."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import redis

from core.ports.limits import Taken
from core.ports.runtime import Telemetry

_TIMEOUT_SECONDS = 0.1
_LEFT_ALONE_SECONDS = 1.0
_MOST_BUCKETS = 10_000

# Atomic, by the server's own clock. A bucket that would be full again is forgotten.
_TAKE = """
local per_minute, want = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local kept = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(kept[1]) or per_minute, tonumber(kept[2]) or now
tokens = math.min(per_minute, tokens + math.max(0, now - at) * per_minute / 60)
local granted = math.min(want, math.floor(tokens))
tokens = tokens - granted
redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', tokens), 'at', string.format('%.6f', now))
redis.call('PEXPIRE', KEYS[1], 61000)
return {granted, math.floor(tokens), string.format('%.6f', (1 - tokens) * 60 / per_minute)}
"""


class LocalBuckets:
    """Implements Buckets for one process."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[float, float]] = {}  # key → (tokens, at)

    def take(self, key: str, per_minute: int, want: int) -> Taken:
        with self._lock:
            now = self._now()
            tokens, at = self._kept.get(key, (float(per_minute), now))
            tokens = min(float(per_minute), tokens + max(0.0, now - at) * per_minute / 60)
            granted = min(want, int(tokens))
            if len(self._kept) >= _MOST_BUCKETS and key not in self._kept:
                self._kept.clear()
            self._kept[key] = (tokens - granted, now)
        left = tokens - granted
        return Taken(granted, int(left), 0.0 if granted else max(0.0, (1 - left) * 60 / per_minute))

    def close(self) -> None: ...


class RedisBuckets:
    """Implements Buckets. While Redis is away each process counts for itself, and asks again after a second."""

    def __init__(self, url: str, telemetry: Telemetry) -> None:
        self._redis = redis.Redis.from_url(
            url, socket_timeout=_TIMEOUT_SECONDS, socket_connect_timeout=_TIMEOUT_SECONDS
        )
        self._script = self._redis.register_script(_TAKE)
        self._telemetry = telemetry
        self._own = LocalBuckets()
        self._alone_until = 0.0

    def take(self, key: str, per_minute: int, want: int) -> Taken:
        if time.monotonic() >= self._alone_until:
            try:
                granted, remaining, wait = self._script(keys=[f"memlane:rate:{key}"], args=[per_minute, want])
            except redis.RedisError as error:
                self._alone_until = time.monotonic() + _LEFT_ALONE_SECONDS
                self._telemetry.emit("process", part="limits", change="counted_alone", detail=type(error).__name__)
            else:
                return Taken(int(granted), int(remaining), 0.0 if granted else max(0.0, float(wait)))
        return self._own.take(key, per_minute, want)

    def close(self) -> None:
        self._redis.close()
