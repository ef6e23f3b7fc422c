"""Workers that live and do nothing are found out; busy, young and idle ones are left alone."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from deploy.local.progress import ProgressWatch, WorkerState, stalled
from deploy.local.stack_state import StackState, read_state
from deploy.migrations.run import upgrade
from tests.stack import Launch, running_stack
from tests.waiting import wait_until

SLOTS = 4


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (WorkerState(7, held=0, idle=20, age=100), {7}),
        (WorkerState(7, held=3, idle=20, age=100), {7}),
        (WorkerState(7, held=SLOTS, idle=20, age=100), set()),  # every slot is inside a call
        (WorkerState(7, held=0, idle=5, age=100), set()),  # it has just claimed something
        (WorkerState(7, held=0, idle=20, age=20), set()),  # it is still loading
    ],
)
def test_who_is_stalled_while_something_could_be_claimed(state: WorkerState, expected: set[int]) -> None:
    assert stalled([state], SLOTS) == expected


@pytest.fixture(scope="module")
def rows(new_database: Callable[[], str]) -> Iterator[psycopg.Connection[Any]]:
    """A database of its own with one idle worker in it, and no constraint in the way of bare event rows."""
    url = new_database()
    upgrade(url)
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(
            "INSERT INTO heartbeats VALUES ('w', 'ingest', %s, now() - interval '1 h', now())",
            [json.dumps({"pid": 7, "held": 0, "idle_s": 60})],
        )
        yield connection


@pytest.fixture
def lane(rows: psycopg.Connection[Any]) -> Iterator[Callable[..., None]]:
    """Adds events to one lane: (sequence, seconds since it was due)."""
    project, org = uuid4(), uuid4()
    rows.execute("INSERT INTO organizations VALUES (%s, 'o', now())", [org])
    rows.execute("INSERT INTO projects VALUES (%s, %s, 'p', NULL, '{}', now(), now())", [project, org])

    def add(seq: int, due: float) -> None:
        rows.execute(
            "INSERT INTO events (id, project_id, lane_key, seq, position, event_type, state, payload, due_at, "
            "created_at, updated_at) VALUES (%s, %s, 'lane', %s, 0, 'ADD', 'accepted', '{}', "
            "now() - %s * interval '1 s', now(), now())",
            [uuid4(), project, seq, due],
        )

    yield add
    for table in ("leases", "events"):
        rows.execute(f"DELETE FROM {table}")


def _restarted(rows: psycopg.Connection[Any], looks: int) -> list[int]:
    found: list[int] = []
    watch = ProgressWatch(
        f"postgresql+psycopg://{rows.info.user}@/{rows.info.dbname}?host={rows.info.host}", SLOTS, found.append
    )
    for _ in range(looks):
        watch.look()
    return found


def test_an_old_event_that_nobody_takes_shows_the_stalled_worker(
    rows: psycopg.Connection[Any], lane: Callable[..., None]
) -> None:
    lane(1, due=30)
    assert _restarted(rows, looks=1) == []
    assert _restarted(rows, looks=2) == [7]


def test_a_fresh_event_shows_nothing(rows: psycopg.Connection[Any], lane: Callable[..., None]) -> None:
    lane(1, due=2)
    assert _restarted(rows, looks=2) == []


def test_an_event_behind_one_that_waits_for_its_retry_shows_nothing(
    rows: psycopg.Connection[Any], lane: Callable[..., None]
) -> None:
    lane(1, due=-60)
    lane(2, due=30)
    assert _restarted(rows, looks=2) == []


def test_an_event_of_a_leased_lane_shows_nothing(rows: psycopg.Connection[Any], lane: Callable[..., None]) -> None:
    lane(1, due=30)
    rows.execute(
        "INSERT INTO leases SELECT project_id, lane_key, 'other', 1, now(), now() + interval '1 min' FROM events"
    )
    assert _restarted(rows, looks=2) == []


def test_nothing_is_concluded_while_the_database_is_away() -> None:
    found: list[int] = []
    watch = ProgressWatch("postgresql://nobody@/none?host=/nonexistent", SLOTS, found.append)
    watch.look()
    watch.look()
    assert found == []


@pytest.mark.long
def test_a_frozen_worker_is_replaced_and_its_work_done() -> None:
    with running_stack() as (launch, state):
        _freeze_and_add(launch, state)


def _freeze_and_add(launch: Launch, state: StackState) -> None:
    headers = {"Authorization": f"Token {(launch.home / 'api_key').read_text().strip()}"}
    with httpx.Client(base_url=state.api_url, headers=headers, timeout=20) as client:
        frozen = state.parts["ingest-1"]
        os.kill(frozen.pid, signal.SIGSTOP)
        body = {"messages": [{"role": "user", "content": "I grow tea in Darjeeling."}], "user_id": "u"}
        event_id = client.post("/v3/memories/add/", json=body).json()["event_id"]

        def done() -> bool:
            return bool(client.get(f"/v1/event/{event_id}/").json()["status"] == "SUCCEEDED")

        wait_until(done, 120, what="the event is worked on")
    now = read_state(launch.home)
    assert now is not None
    assert now.parts["ingest-1"] != frozen
