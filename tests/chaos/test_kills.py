"""Processes killed with -9 and frozen under load: every accepted add ends once (the long form is make chaos)."""

from __future__ import annotations

import signal
import threading
from uuid import UUID

import httpx
import pytest
from sqlalchemy import text

from core.domain.scope import Scope
from core.services.issue_key import issue_key
from deploy.local.ports import free_port
from tests.chaos.check import assert_lane_order
from tests.chaos.cluster import Cluster, Part, wait_until
from tests.chaos.load import Load, running_worker

pytestmark = pytest.mark.chaos


@pytest.mark.long
def test_a_worker_killed_during_200_adds_loses_and_doubles_nothing(place: Cluster, load: Load) -> None:
    worker = running_worker(place, "w1")
    for number in range(200):
        load.add(number)
        if number in (60, 130):
            worker.kill()
            worker.start()
    load.settle()
    load.check()
    assert worker.kills == 2


@pytest.mark.long
def test_valkey_killed_during_200_adds_loses_and_doubles_nothing(place: Cluster, load: Load) -> None:
    running_worker(place, "w2")
    for number in range(200):
        load.add(number)
        if number == 60:
            place.valkey.kill()
        if number == 140:
            place.valkey.start()
    load.settle()
    load.check()


@pytest.mark.long
def test_adds_accepted_while_the_broker_is_away_are_worked_without_it(place: Cluster, load: Load) -> None:
    running_worker(place, "w5")
    place.valkey.kill()
    for number in range(5):
        load.add(number)
    load.settle(stuck_after=30)
    place.valkey.start()
    wait_until(place.broker.ready, "Valkey answers")
    load.check()


@pytest.mark.long
def test_the_index_killed_during_200_adds_loses_and_doubles_nothing(place: Cluster, load: Load) -> None:
    running_worker(place, "w3")
    for number in range(200):
        load.add(number)
        if number == 60:
            place.endpoint.kill()
        if number == 140:
            place.endpoint.start()
    load.settle()
    load.check()


@pytest.mark.long
def test_the_api_killed_during_200_adds_keeps_every_add_that_it_answered(place: Cluster, load: Load) -> None:
    """An add without an answer may be there or not; an answered one ends once."""
    port = free_port()
    running_worker(place, "w4")
    api = place.api(port)
    key = issue_key(place.database, "chaos").key
    client = httpx.Client(
        base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Token {key}"}, timeout=10, trust_env=False
    )
    wait_until(lambda: _answers(client), "the API answers")
    unanswered = 0
    for number in range(200):
        if number in (60, 130):
            threading.Timer(0.005, api.kill).start()
        if number in (61, 131):
            wait_until(lambda: not api.running, "the API is gone")
            api.start()
            wait_until(lambda: _answers(client), "the API answers again")
        messages = [{"role": "user", "content": f"Fact number {number}"}]
        body = {"messages": messages, "user_id": f"user-{number % 20}", "infer": False}
        try:
            answer = client.post("/v3/memories/add/", json=body)
        except httpx.TransportError:
            unanswered += 1
            continue
        assert answer.status_code == 200
        load.accepted.append(UUID(answer.json()["event_id"]))
    client.close()
    query = text("SELECT count(*) FROM events WHERE state NOT IN ('projected', 'failed')")
    wait_until(lambda: place.scalar(query) == 0, "every event has ended", 90)
    load.check()
    assert len(load.accepted) + unanswered == 200
    assert api.kills == 2


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.parametrize(
    "point",
    [
        *("commit", "projected"),
        *(pytest.param(p, marks=pytest.mark.long) for p in ("begin", "embed", "committed", "project")),
    ],
)
def test_a_worker_that_dies_at_a_point_is_replaced_with_one_effect(place: Cluster, load: Load, point: str) -> None:
    worker = running_worker(place, f"at-{point}", MEMLANE_CRASH_AT=f"{point}:3")
    for number in range(12):
        load.add(number, lanes=3)
    worker.wait(60)
    heir = place.worker(f"heir-{point}")
    load.settle()
    load.check()
    for lane in range(3):
        assert_lane_order(place.database, load.pipeline.project, Scope(user_id=f"user-{lane}").key)
    assert heir.running


def test_a_worker_frozen_between_fence_check_and_commit_has_no_second_effect(place: Cluster, load: Load) -> None:
    frozen = running_worker(place, "frozen", MEMLANE_CRASH_AT="commit:1:stop")
    load.add(1)
    wait_until(lambda: _stopped(frozen), "the worker froze at its commit")
    running_worker(place, "awake")
    load.settle(stuck_after=30)
    frozen.send(signal.SIGCONT)
    load.add(2)
    load.settle()
    load.check()


def _stopped(part: Part) -> bool:
    with open(f"/proc/{part.pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "T"


@pytest.mark.parametrize("adds", [200, pytest.param(2000, marks=pytest.mark.long)])
def test_one_lane_and_two_workers_without_the_sweep_leave_none_stuck(place: Cluster, load: Load, adds: int) -> None:
    for name in ("one", "two"):
        running_worker(place, name, MEMLANE_SWEEP_SECONDS="0")
    for number in range(adds):
        load.add(number, lanes=1)
    load.settle()
    load.check()
    assert_lane_order(place.database, load.pipeline.project, Scope(user_id="user-0").key)
