"""The API stopped, frozen, starved and left by its clients: what it answered is kept, a retry makes one event."""

from __future__ import annotations

import json
import resource
import signal
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import psycopg
import pytest
from sqlalchemy import text

from core.services.issue_key import IssuedKey, issue_key
from deploy.local.ports import free_port
from tests.chaos.cluster import Cluster, Part, wait_until

pytestmark = [pytest.mark.chaos, pytest.mark.long]
_EVENTS = text("SELECT count(*) FROM events WHERE project_id = :project")


@dataclass
class Site:
    """A running API with a project of its own."""

    place: Cluster
    api: Part
    port: int
    key: IssuedKey
    clients: list[httpx.Client] = field(default_factory=list)

    def client(self, seconds: float = 20.0) -> httpx.Client:
        headers = {"Authorization": f"Token {self.key.key}"}
        address = f"http://127.0.0.1:{self.port}"
        self.clients.append(httpx.Client(base_url=address, headers=headers, timeout=seconds, trust_env=False))
        return self.clients[-1]

    def add(self, client: httpx.Client, number: int, key: str | None = None) -> httpx.Response:
        headers = {"Idempotency-Key": key} if key else {}
        return client.post("/v3/memories/add/", json=body(number), headers=headers)

    def events(self) -> int:
        with self.place.database.operations() as tx:
            return int(tx.connection.execute(_EVENTS, {"project": self.key.project_id}).scalar_one())

    def answers(self) -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/healthz", timeout=2, trust_env=False).status_code == 200
        except httpx.TransportError:
            return False


def body(number: int) -> dict[str, Any]:
    messages = [{"role": "user", "content": f"Fact number {number}"}]
    return {"messages": messages, "user_id": f"user-{number % 5}", "infer": False}


@pytest.fixture
def site(place: Cluster) -> Iterator[Site]:
    port = free_port()
    made = Site(place, place.api(port), port, issue_key(place.database, "faults"))
    wait_until(made.answers, "the API answers")
    yield made
    for client in made.clients:
        client.close()
    place.end_parts()


def test_an_api_told_to_stop_under_load_keeps_what_it_answered_and_ends(site: Site) -> None:
    answered: list[str] = []
    stopping = threading.Event()

    def stream(start: int) -> None:
        client = site.client()
        for number in range(start, start + 10_000):
            try:
                answer = site.add(client, number)
            except httpx.TransportError:
                return
            if answer.status_code == 200:
                answered.append(answer.json()["event_id"])
            if stopping.is_set() and not site.api.running:
                return

    threads = [threading.Thread(target=stream, args=(n * 10_000,)) for n in range(4)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(answered) > 40, "adds are answered")
    site.api.send(signal.SIGTERM)
    stopping.set()
    site.api.wait(40)
    for thread in threads:
        thread.join(30)
    assert len(set(answered)) == len(answered)
    with site.place.database.operations() as tx:
        query = text("SELECT count(*) FROM events WHERE CAST(id AS text) = ANY(:ids)")
        assert tx.connection.execute(query, {"ids": answered}).scalar_one() == len(answered)


def test_a_frozen_api_makes_one_event_of_all_the_retries_of_one_key(site: Site) -> None:
    client = site.client(seconds=1.0)
    site.api.send(signal.SIGSTOP)
    for _ in range(3):
        with pytest.raises(httpx.TransportError):
            site.add(client, 1, key="once")
    site.api.send(signal.SIGCONT)
    answer = site.add(site.client(), 1, key="once")
    assert answer.status_code == 200
    wait_until(site.answers, "the API has caught up")
    assert site.add(site.client(), 1, key="once").json()["event_id"] == answer.json()["event_id"]
    assert site.events() == 1


def test_an_api_killed_between_its_commit_and_its_answer_gives_the_retry_the_same_event(place: Cluster) -> None:
    port = free_port()
    dying = place.part("dying", ["deploy.cli.main", "api", "--port", str(port)], MEMLANE_CRASH_AT="accepted:1")
    dying.start()
    site = Site(place, dying, port, issue_key(place.database, "faults"))
    wait_until(site.answers, "the API answers")
    with pytest.raises(httpx.TransportError):
        site.add(site.client(), 1, key="once")
    dying.wait(20)
    assert site.events() == 1
    site.api = place.api(port)
    wait_until(site.answers, "the API answers again")
    again = site.add(site.client(), 1, key="once")
    assert again.headers["Idempotency-Replayed"] == "true"
    assert site.events() == 1
    for client in site.clients:
        client.close()
    place.end_parts()


def test_a_client_that_leaves_costs_nothing(site: Site) -> None:
    """In the middle of its body: no event. Before the answer: one at most. The API goes on in both cases."""
    payload = json.dumps(body(1)).encode()
    head = (
        f"POST /v3/memories/add/ HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Token {site.key.key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(payload)}\r\n\r\n"
    ).encode()
    for sent in (payload[: len(payload) // 2], payload):
        for _ in range(10):
            with socket.create_connection(("127.0.0.1", site.port), timeout=5) as link:
                link.sendall(head + sent)
        assert site.add(site.client(), 2).status_code == 200
    assert site.events() <= 10 + 2


def test_an_api_without_free_descriptors_comes_back_when_they_are_free(site: Site) -> None:
    assert site.add(site.client(), 0).status_code == 200
    resource.prlimit(site.api.pid, resource.RLIMIT_NOFILE, (64, 64))
    links = [socket.create_connection(("127.0.0.1", site.port), timeout=5) for _ in range(80)]
    for link in links:
        link.close()
    wait_until(site.answers, "the API answers again")
    assert site.add(site.client(), 1).status_code == 200
    assert site.api.running
    assert site.events() == 2


def test_without_a_free_connection_to_the_database_an_add_is_503_with_a_time_to_come_back(site: Site) -> None:
    held: list[psycopg.Connection[Any]] = []
    try:
        with pytest.raises(psycopg.OperationalError):
            take_all(site.place.url.replace("+psycopg", ""), held)
        answer = site.add(site.client(), 1)
        assert answer.status_code in (200, 503)  # it may have connections of its own already
        fresh = [site.add(site.client(), n) for n in range(2, 12)]
        refused = [answer for answer in [answer, *fresh] if answer.status_code == 503]
        assert refused
        assert all(int(answer.headers["Retry-After"]) >= 1 for answer in refused)
        assert {answer.status_code for answer in fresh} <= {200, 503}
    finally:
        for connection in held:
            connection.close()
    answered = 11 - len(refused)
    assert site.add(site.client(), 20).status_code == 200
    assert site.events() == answered + 1


def take_all(url: str, held: list[psycopg.Connection[Any]]) -> None:
    for _ in range(200):
        held.append(psycopg.connect(url, connect_timeout=5))
