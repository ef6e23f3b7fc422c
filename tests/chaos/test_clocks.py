"""Processes whose clocks differ by minutes: what is due, held and over goes by the database's clock alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

import httpx
import pytest
from cryptography.fernet import Fernet
from sqlalchemy import text

from core.adapters.guarded_fetch import GuardedFetcher
from core.adapters.secret_box import FernetBox
from core.services.issue_key import issue_key
from core.services.webhooks import Draft, WebhookParts, create_webhook
from deploy.local.ports import free_port
from tests.chaos.check import assert_delivered
from tests.chaos.cluster import LEASE_SECONDS, Cluster, Part, cluster, wait_until
from tests.chaos.load import Load, running_worker
from tests.chaos.skew import Skew, skewed
from tests.chaos.storm import owner_of
from tests.chaos.takeovers import note_takeovers
from tests.doubles.counting_receiver import CountingReceiver

pytestmark = [pytest.mark.chaos, pytest.mark.long, pytest.mark.needs("faketime")]
_LANES = 4  # as many as a worker has slots, so that no lane waits for one
_MOST_OPEN = 20  # events
_KEY = Fernet.generate_key().decode()
_UNSENT = text("SELECT count(*) FROM deliveries WHERE state = 'waiting'")
_HELD = text("SELECT count(*) FROM leases WHERE owner = :owner AND expires_at > now()")
_TAKEN = text("""
SELECT extract(epoch FROM taken_at - greatest(due_at, to_timestamp(:death)))::float8 AS waited,
  extract(epoch FROM taken_at - expired_at)::float8 AS late
FROM chaos_takeovers WHERE owner = :owner AND due_at IS NOT NULL
""")


@pytest.fixture(scope="module")
def place() -> Iterator[Cluster]:
    with cluster(MEMLANE_WEBHOOK_ALLOW_PRIVATE="loopback", MEMLANE_SECRET_KEY=_KEY) as running:
        note_takeovers(running.url)
        yield running


@pytest.fixture(params=[300, -300], ids=["ahead", "behind"])
def skew(place: Cluster, request: pytest.FixtureRequest) -> Iterator[Skew]:
    with skewed(place, request.param) as made:
        yield made


@pytest.fixture
def load(place: Cluster, skew: Skew) -> Iterator[Load]:
    """Ends what runs before the skew's pipe closes."""
    made = Load(place)
    yield made
    made.close()
    place.end_parts()


def test_workers_with_other_clocks_take_over_from_each_other_in_time(place: Cluster, skew: Skew, load: Load) -> None:
    """The skewed one dies and the other goes on; then that one dies, and the skewed one has to do all alone."""
    with CountingReceiver() as receiver:
        _subscribe(place, load, receiver)
        usual = running_worker(place, "usual")
        odd = skew.part("odd", place.worker_part("unused").command)
        courier = skew.part(
            "courier", ["deploy.cli.main", "worker", "--queues", "webhooks,upkeep", "--name", "courier"]
        )
        for part in (odd, courier):
            part.start()
            wait_until(lambda part=part: place.beats(part), f"{part.name} beats")  # type: ignore[misc]
        assert _clock_of(odd) == pytest.approx(time.time() + skew.seconds, abs=60)
        for victim in (odd, usual):
            _add_until(load, lambda victim=victim: _holds(place, victim))  # type: ignore[misc]
            owner, death = owner_of(victim.pid), time.time()
            victim.kill()
            _add_until(load, lambda owner=owner: bool(_taken(place, owner, 0)))  # type: ignore[misc]
            load.settle()
            taken = _taken(place, owner, death)
            assert min(row.late for row in taken) >= 0, "a live lease was taken over"
            assert max(row.waited for row in taken) <= LEASE_SECONDS + 2
            if victim is odd:
                odd.start()
                wait_until(lambda: place.beats(odd), "odd beats again")
        load.check()
        wait_until(lambda: place.scalar(_UNSENT) == 0, "everything is told")
        assert_delivered(place.database, receiver.ids)
        assert set(receiver.ids.values()) == {1}
    with place.database.operations() as tx:
        tx.connection.execute(text("DELETE FROM webhooks"))


def test_an_api_with_another_clock_changes_nothing(place: Cluster, skew: Skew, load: Load) -> None:
    worker = running_worker(place, "beside")
    port = free_port()
    odd = skew.part("odd-api", ["deploy.cli.main", "api", "--port", str(port)])
    odd.start()
    headers = {"Authorization": f"Token {issue_key(place.database, 'clocks').key}"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=20, trust_env=False) as client:
        wait_until(lambda: _ready(client), "the API is ready, and sees the worker's heartbeat")
        assert _clock_of(odd) == pytest.approx(time.time() + skew.seconds, abs=60)
        for number in range(40):
            load.accepted.append(_add(client, number))
            if number == 20:
                worker.kill()
                worker.start()
            if number % 5 == 0:
                assert _add(client, number) == load.accepted[-1], "a retry of one key made another event"
        for event in load.accepted:
            wait_until(lambda event=event: _status(client, event) == "SUCCEEDED", "it succeeds")  # type: ignore[misc]
        found = client.post("/v3/memories/search/", json={"query": "Fact number 7", "filters": {"user_id": "user-2"}})
        assert "Fact number 7" in [hit["memory"] for hit in found.json()["results"]]
    load.settle()
    load.check()


def _subscribe(place: Cluster, load: Load, receiver: CountingReceiver) -> None:
    parts = WebhookParts(FernetBox(_KEY), GuardedFetcher(), "loopback")
    create_webhook(load.runtime, parts, load.pipeline.project, Draft("clocks", receiver.url, ["memory_add"]))


def _add_until(load: Load, fact: Callable[[], bool], seconds: float = 30.0) -> None:
    until = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < until, "not while adds flowed"
        if load.open_events() < _MOST_OPEN:
            load.add(len(load.accepted), lanes=_LANES)
        time.sleep(0.02)


def _holds(place: Cluster, worker: Part) -> bool:
    with place.database.operations() as tx:
        return bool(tx.connection.execute(_HELD, {"owner": owner_of(worker.pid)}).scalar_one())


def _taken(place: Cluster, owner: str, death: float) -> list[Any]:
    """The lanes taken over from a worker: how long each waited since then, and since its lease was over."""
    with place.database.operations() as tx:
        return list(tx.connection.execute(_TAKEN, {"owner": owner, "death": death}))


def _clock_of(part: Part) -> float:
    """Seconds since the epoch, as the process itself has it: the last time that its log shows."""
    lines = [line for line in part.log.read_text().splitlines() if '"timestamp":"' in line]
    stamp = lines[-1].split('"timestamp":"')[1].split('"')[0]
    return datetime.fromisoformat(stamp).timestamp()


def _ready(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz?all=1").status_code == 200
    except httpx.TransportError:
        return False


def _add(client: httpx.Client, number: int) -> UUID:
    messages = [{"role": "user", "content": f"Fact number {number}"}]
    body = {"messages": messages, "user_id": f"user-{number % 5}", "infer": False}
    answer = client.post("/v3/memories/add/", json=body, headers={"Idempotency-Key": f"clocks-{number}"})
    assert answer.status_code == 200, answer.text
    return UUID(answer.json()["event_id"])


def _status(client: httpx.Client, event: UUID) -> str:
    return str(client.get(f"/v1/event/{event}/").json()["status"])
