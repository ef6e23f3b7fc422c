"""Open-loop load: requests start at their scheduled times, whether or not earlier ones have been answered.

Latency counts from the scheduled start, so that a server that stalls is charged for everybody who would have come
meanwhile. (A closed loop stops asking while the server stalls, and so hides the stall: "coordinated omission".)
"""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

_REQUEST_SECONDS = 10.0
_GRACE_SECONDS = 15.0


@dataclass(frozen=True)
class Schedule:
    """`rate` requests a second for `seconds`, over at most `connections` at once."""

    rate: float
    seconds: float
    connections: int = 48

    @property
    def count(self) -> int:
        return max(1, round(self.rate * self.seconds))


@dataclass(frozen=True)
class Sample:
    """One request: milliseconds from its scheduled start to its answer; status 0 when there was no answer."""

    scheduled: float
    latency_ms: float
    status: int
    body: bytes


@dataclass(frozen=True)
class Request:
    path: str
    body: bytes


class _Clock:
    """Deals out the numbers of requests and knows when each is due."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._lock = threading.Lock()
        self._next = 0
        self.start = time.perf_counter() + 0.1
        self.deadline = self.start + schedule.seconds + _GRACE_SECONDS

    def take(self) -> int | None:
        with self._lock:
            number = self._next
            if number >= self._schedule.count or time.perf_counter() > self.deadline:
                return None
            self._next += 1
            return number

    def due(self, number: int) -> float:
        return self.start + number / self._schedule.rate


def open_loop(url: str, api_key: str, schedule: Schedule, request: Callable[[int], Request]) -> list[Sample]:
    """Send `request(0)`, `request(1)`, … on schedule; ends at the latest 15 s (and one time-out) after the last.

    Requests that could not even be started by then are missing from the answer; compare with `schedule.count`.
    """
    clock = _Clock(schedule)
    samples: list[Sample] = []
    threads = [
        threading.Thread(target=_send_all, args=(url, api_key, clock, request, samples), daemon=True)
        for _ in range(min(schedule.connections, schedule.count))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(samples, key=lambda sample: sample.scheduled)


def _send_all(
    url: str, api_key: str, clock: _Clock, request: Callable[[int], Request], samples: list[Sample]
) -> None:
    parts = urlsplit(url)
    headers = {"Authorization": f"Token {api_key}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=_REQUEST_SECONDS)
    while (number := clock.take()) is not None:
        due = clock.due(number)
        wanted = request(number)
        time.sleep(max(0.0, due - time.perf_counter()))
        status, body = _send(connection, parts.path.rstrip("/"), wanted, headers)
        samples.append(Sample(due - clock.start, (time.perf_counter() - due) * 1_000, status, body))
    connection.close()


def _send(
    connection: http.client.HTTPConnection, prefix: str, wanted: Request, headers: dict[str, str]
) -> tuple[int, bytes]:
    try:
        connection.request("POST", prefix + wanted.path, wanted.body, headers)
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, http.client.HTTPException):
        connection.close()  # the next request opens it anew
        return 0, b""
