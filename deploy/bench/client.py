"""The part of Memlane's public HTTP API that benchmarks use, over one keep-alive pool."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import httpx

_ENDED = ("SUCCEEDED", "FAILED")
_DURATION = re.compile(r"dur=([\d.]+)")
_PAGE_SIZE = 200
_BUSY = (429, 503)
_LONGEST_BUSY_SECONDS = 120.0
_FIRST_POLL_SECONDS, _SLOWEST_POLL_SECONDS = 0.005, 0.25

Json = dict[str, Any]


class BenchError(Exception):
    """The server cannot be measured: not reachable, refuses requests, or does not finish its work in time."""


@dataclass(frozen=True)
class Answer:
    """A search's results, its round trip, and the server's own times by stage, all in milliseconds."""

    results: list[Json]
    total_ms: float
    stages: dict[str, float]


class Memlane:
    """Thread-safe. Every call has a time-out; 429 and 503 are waited out as Retry-After says, up to two minutes."""

    def __init__(self, url: str, api_key: str, timeout: float = 30.0) -> None:
        self.url = url.rstrip("/")
        self._http = httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Token {api_key}"},
            timeout=timeout,
            limits=httpx.Limits(max_connections=64, max_keepalive_connections=64),
            trust_env=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._http.close()

    def ping(self) -> Json:
        """Identity behind the key; raises BenchError with a hint when there is no server or the key is wrong."""
        return self._call("GET", "/v1/ping/")

    def add(self, messages: Sequence[Json], **fields: Any) -> str:
        """Accept one add; returns the event's id."""
        return str(self._call("POST", "/v3/memories/add/", {"messages": list(messages), **fields})["event_id"])

    def event(self, event_id: str) -> Json:
        return self._call("GET", f"/v1/event/{event_id}/")

    def wait(self, event_ids: Sequence[str], timeout: float, tell: Callable[[int], None] | None = None) -> list[Json]:
        """Every event's end, in the order given. `tell` gets the number that have ended so far.

        Raises BenchError when they have not all ended after `timeout` seconds.
        """
        deadline = time.monotonic() + timeout
        ended: list[Json] = []
        for event_id in event_ids:
            ended.append(self._wait_for(event_id, deadline))
            if tell is not None:
                tell(len(ended))
        return ended

    def _wait_for(self, event_id: str, deadline: float) -> Json:
        pause = _FIRST_POLL_SECONDS
        while (event := self.event(event_id))["status"] not in _ENDED:
            if time.monotonic() > deadline:
                raise BenchError(f"event {event_id} is still {event['status']}; are workers running?")
            time.sleep(pause)
            pause = min(pause * 1.5, _SLOWEST_POLL_SECONDS)
        return event

    def search(self, query: str, filters: Json, **fields: Any) -> Answer:
        started = time.perf_counter()
        response = self._send("POST", "/v3/memories/search/", {"query": query, "filters": filters, **fields})
        total = (time.perf_counter() - started) * 1_000
        return Answer(response.json()["results"], total, stages_of(response.headers.get("server-timing", "")))

    def memories(self, filters: Json) -> Iterator[Json]:
        """All memories that `filters` select, page by page."""
        page = 1
        while True:
            body = self._call("POST", f"/v3/memories/?page={page}&page_size={_PAGE_SIZE}", {"filters": filters})
            yield from body["results"]
            if not body.get("next"):
                return
            page += 1

    def forget(self, user_id: str) -> None:
        """Delete what a benchmark stored under `user_id`."""
        self._send("DELETE", "/v1/memories/", params={"user_id": user_id})

    def _call(self, method: str, path: str, body: Json | None = None) -> Json:
        answer: Json = self._send(method, path, body).json()
        return answer

    def _send(
        self, method: str, path: str, body: Json | None = None, params: dict[str, str] | None = None
    ) -> httpx.Response:
        waited = 0.0
        while True:
            try:
                response = self._http.request(method, path, json=body, params=params)
            except httpx.HTTPError as error:
                raise BenchError(f"{method} {self.url}{path}: {error or type(error).__name__}") from error
            if response.status_code not in _BUSY or waited >= _LONGEST_BUSY_SECONDS:
                break
            pause = float(response.headers.get("retry-after", "1"))
            waited += pause
            time.sleep(pause)
        if response.is_error:
            raise BenchError(f"{method} {path} answered {response.status_code}: {response.text[:300]}")
        return response


def stages_of(header: str) -> dict[str, float]:
    """Milliseconds by stage from a Server-Timing header (W3C Server Timing): `embed;dur=8.2, recall;dur=3.1`."""
    stages = {}
    for entry in header.split(","):
        name, *parameters = (part.strip() for part in entry.split(";"))
        duration = next((_DURATION.fullmatch(parameter) for parameter in parameters if "dur" in parameter), None)
        if duration is not None:
            stages[name] = float(duration[1])
    return stages
