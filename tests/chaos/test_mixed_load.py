"""C22: a hundred clients add, update and delete; all of Memlane is killed once; what was answered holds."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from core.adapters.qdrant import QdrantIndex
from core.services.issue_key import issue_key
from deploy.local.ports import free_port
from tests.chaos.check import assert_consistent
from tests.chaos.cluster import Cluster, cluster, wait_until
from tests.waiting import wait_until as value_of

pytestmark = [pytest.mark.chaos, pytest.mark.long]

CLIENTS, SECONDS = 100, 60.0
_OPEN = text("SELECT count(*) FROM events WHERE state NOT IN ('projected', 'failed')")
_UNSHOWN = text("SELECT count(*) FROM projections")


@dataclass
class Client(threading.Thread):
    """One user's requests, one after another; a request without an answer is sent again until it has one."""

    number: int
    http: httpx.Client
    ends: float
    expected: dict[str, str] = field(default_factory=dict)  # memory id → text, as answered
    answered: int = 0
    failure: BaseException | None = None

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self.chance = random.Random(self.number)
        self.made = 0

    __hash__ = threading.Thread.__hash__

    @property
    def user(self) -> str:
        return f"user-{self.number}"

    def run(self) -> None:
        try:
            while time.monotonic() < self.ends:
                dice = self.chance.random()
                if not self.expected or dice < 0.5:
                    self.add()
                elif dice < 0.8:
                    self.update(self.chance.choice(list(self.expected)))
                else:
                    self.delete(self.chance.choice(list(self.expected)))
                self.answered += 1
        except Exception as error:  # noqa: BLE001 - raised again by the test, which joins this thread
            self.failure = error

    def add(self) -> None:
        said = self.new_text()
        body = {"messages": [{"role": "user", "content": said}], "user_id": self.user, "infer": False}
        sent = {"Idempotency-Key": f"{self.user}-{self.made}"}
        event_id = self.send({200}, "POST", "/v3/memories/add/", json=body, headers=sent).json()["event_id"]
        event = value_of(lambda: self.ended(event_id), 120, what=f"event {event_id} ends")
        assert event["status"] == "SUCCEEDED", event
        (result,) = event["results"]
        self.expected[result["id"]] = said

    def update(self, memory_id: str) -> None:
        said = self.new_text()
        self.send({200}, "PUT", f"/v1/memories/{memory_id}/", json={"text": said})
        self.expected[memory_id] = said

    def delete(self, memory_id: str) -> None:
        """404 is the answer to a deletion whose first answer was lost."""
        self.send({200, 404}, "DELETE", f"/v1/memories/{memory_id}/")
        del self.expected[memory_id]

    def new_text(self) -> str:
        self.made += 1
        return f"Parcel {self.number}-{self.made} lies in locker {self.made}"

    def ended(self, event_id: str) -> dict[str, Any] | None:
        event: dict[str, Any] = self.send({200}, "GET", f"/v1/event/{event_id}/").json()
        return event if event["status"] in ("SUCCEEDED", "FAILED") else None

    def send(self, statuses: set[int], method: str, path: str, **more: Any) -> httpx.Response:
        """A 503 says to come back, and so does a connection that breaks."""
        until = time.monotonic() + 120
        while True:
            try:
                answer = self.http.request(method, path, **more)
            except httpx.TransportError:
                answer = None
            if answer is not None and answer.status_code not in (429, 503):
                assert answer.status_code in statuses, (method, path, answer.status_code, answer.text[:300])
                return answer
            assert time.monotonic() < until, f"{method} {path} has no answer"
            time.sleep(0.2)


@pytest.fixture
def place() -> Iterator[Cluster]:
    with cluster(MEMLANE_RATE_LIMIT_PER_MINUTE="0", MEMLANE_API_THREADS="32") as running:
        yield running


def test_c22_a_hundred_clients_and_one_kill_of_everything_leave_what_was_answered(place: Cluster) -> None:
    port = free_port()
    api, worker = place.api(port), place.worker("mixed")
    key = issue_key(place.database, "mixed").key
    limits = httpx.Limits(max_connections=CLIENTS)
    headers = {"Authorization": f"Token {key}"}
    address = f"http://127.0.0.1:{port}"
    with httpx.Client(base_url=address, headers=headers, timeout=60, trust_env=False, limits=limits) as http:
        wait_until(lambda: answers(http), "the API answers")
        clients = [Client(number, http, time.monotonic() + SECONDS) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        time.sleep(SECONDS / 2)
        parts = (api, worker, place.valkey, place.endpoint)
        for part in parts:
            part.kill()
        for part in parts:
            part.start()
        for client in clients:
            client.join(SECONDS + 240)
            assert not client.is_alive(), client.user
            if client.failure is not None:
                raise client.failure
        wait_until(lambda: place.scalar(_OPEN) == 0, "every event has ended", 120)
        wait_until(lambda: place.scalar(_UNSHOWN) == 0, "the index has everything", 60)
        for client in clients:
            assert listed(http, client.user) == client.expected
    assert sum(client.answered for client in clients) > CLIENTS
    index = QdrantIndex(place.environment["MEMLANE_QDRANT_URL"], place.environment["MEMLANE_QDRANT_API_KEY"])
    try:
        assert_consistent(place.database, index, "memlane_1")
    finally:
        index.close()


def listed(http: httpx.Client, user: str) -> dict[str, str]:
    answer = http.post("/v3/memories/?page_size=200", json={"filters": {"user_id": user}})
    assert answer.status_code == 200, answer.text
    return {row["id"]: row["memory"] for row in answer.json()["results"]}


def answers(http: httpx.Client) -> bool:
    try:
        return http.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False
