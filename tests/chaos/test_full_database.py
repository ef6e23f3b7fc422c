"""PostgreSQL on a disk that is full: adds are refused with a time to come back, and nothing accepted suffers."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID

import httpx
import psycopg
import pytest
from sqlalchemy import text

from core.adapters.qdrant import QdrantIndex
from core.adapters.sql.database import SqlDatabase
from core.domain.errors import CATALOGUE
from core.services.issue_key import IssuedKey, issue_key
from deploy.local.launch import Launch
from deploy.local.postgres import Postgres
from deploy.local.stack_state import StackState, read_state
from tests.chaos.check import assert_consistent, assert_each_ended_once
from tests.chaos.cluster import wait_until
from tests.chaos.disk import SmallDisk, small_disk
from tests.stack import launch, short_home

pytestmark = [pytest.mark.chaos, pytest.mark.long, pytest.mark.needs("mounts")]
_MEBIBYTES = 224  # an empty stack takes about a hundred
_LONGEST_ANSWER = 20.0  # seconds
_REFUSALS = 12
_BULK = 800  # bytes
_LEASES = 4  # so many run out while the disk is full: more than the crashes that an event may count
_EVENTS = text("SELECT count(*) FROM events WHERE project_id = :project")
_OPEN = text("SELECT count(*) FROM events WHERE state NOT IN ('projected', 'failed')")
_UNSHOWN = text("SELECT count(*) FROM projections")
_LEASE_SECONDS = 5


@dataclass
class Site:
    """The stack of `memlane up` with PostgreSQL's data on a small disk, and one client."""

    stack: Launch
    state: StackState
    disk: SmallDisk
    database: SqlDatabase
    key: IssuedKey
    client: httpx.Client
    accepted: dict[int, UUID] = field(default_factory=dict)
    refused: set[int] = field(default_factory=set)

    def add(self, number: int) -> int:
        """The status of an add, which has to be 200, or 503 with a code and a time to come back."""
        messages = [{"role": "user", "content": f"Fact number {number}"}]
        bulk = {"bulk": os.urandom(_BULK).hex()}  # no page has room for long
        body = {"messages": messages, "user_id": f"user-{number % 5}", "infer": False, "metadata": bulk}
        answer = self.client.post("/v3/memories/add/", json=body)
        assert answer.status_code in (200, 503), f"{answer.text}\n{self.stack.log_tails(40)['api']}"
        if answer.status_code == 200:
            self.accepted[number] = UUID(answer.json()["event_id"])
        else:
            self.refused.add(number)
            assert answer.json()["code"] in CATALOGUE, answer.text
            assert int(answer.headers["Retry-After"]) >= 1
        return answer.status_code

    def add_until_refused(self, numbers: Iterator[int], times: int) -> None:
        refused = 0
        while refused < times:
            refused += self.add(next(numbers)) == 503

    def read(self) -> list[int]:
        """What a look at an event, a list and a search are answered."""
        event = self.client.get(f"/v1/event/{self.accepted[0]}/")
        whose = {"filters": {"user_id": "user-0"}}
        listed = self.client.post("/v3/memories/", json=whose)
        found = self.client.post("/v3/memories/search/", json={"query": "Fact number 0", **whose})
        return [answer.status_code for answer in (event, listed, found)]

    def scalar(self, query: object) -> int:
        with self.database.operations() as tx:
            found = tx.connection.execute(query, {"project": self.key.project_id})  # type: ignore[call-overload]
            return int(found.scalar_one())

    def settle(self) -> None:
        """Every event ends, whatever the pace, and the index shows it."""
        for query in (_OPEN, _UNSHOWN):
            wait_until(lambda query=query: self.scalar(query) == 0, "all is done", 120)  # type: ignore[misc]

    def check(self) -> None:
        """Nothing half stored: what stands there is what was accepted, and each of it once."""
        assert_each_ended_once(self.database, list(self.accepted.values()))
        environment = self.state.environment
        index = QdrantIndex(environment["MEMLANE_QDRANT_URL"], environment["MEMLANE_QDRANT_API_KEY"])
        try:
            assert_consistent(self.database, index, "memlane_1")
        finally:
            index.close()

    def postgres(self) -> int:
        """The server's pid, 0 while it is away."""
        state = read_state(self.stack.home)
        found = state.parts.get("postgres") if state else None
        return found.pid if found else 0

    def workers(self, number: signal.Signals) -> None:
        for name, part in self.state.parts.items():
            if name.startswith("ingest"):
                os.kill(part.pid, number)


@pytest.fixture
def site() -> Iterator[Site]:
    home = short_home()
    server = Postgres(home)
    server.locate()
    server.discard_sockets()  # the launcher makes its own
    server.create()
    with small_disk(server.data, _MEBIBYTES) as disk:
        stack = launch(home, {"MEMLANE_LEASE_SECONDS": str(_LEASE_SECONDS)})
        try:
            with _client_of(stack, stack.wait_ready(), disk) as made:
                yield made
        finally:
            disk.clear()
            stack.stop()
            import shutil as _s

            _s.copytree(home / "logs", "/tmp/faults_logs", dirs_exist_ok=True)
            _s.copy(home / "launcher.out", "/tmp/faults_logs")
    stack.discard()


@contextmanager
def _client_of(stack: Launch, state: StackState, disk: SmallDisk) -> Iterator[Site]:
    database = SqlDatabase(state.environment["MEMLANE_DATABASE_URL"])
    key = issue_key(database, "full")
    headers = {"Authorization": f"Token {key.key}"}
    with httpx.Client(base_url=state.api_url, headers=headers, timeout=_LONGEST_ANSWER, trust_env=False) as client:
        yield Site(stack, state, disk, database, key, client)
    database.close()


def test_a_full_disk_refuses_adds_leaves_reads_and_costs_no_accepted_event_a_crash(site: Site) -> None:
    numbers = iter(range(100_000))
    for _ in range(10):
        assert site.add(next(numbers)) == 200
    site.settle()
    before = site.postgres()
    site.workers(signal.SIGSTOP)
    for _ in range(20):
        assert site.add(next(numbers)) == 200
    with site.disk.full():
        site.workers(signal.SIGCONT)
        site.add_until_refused(numbers, _REFUSALS)
        until = time.monotonic() + _LEASES * _LEASE_SECONDS
        while time.monotonic() < until:
            assert site.read() == [200, 200, 200]
            time.sleep(0.2)
        assert site.scalar(_OPEN) > 0, "nothing was in flight"
        assert site.postgres() == before
    for number in sorted(site.refused):
        wait_until(lambda number=number: site.add(number) == 200, "adds are accepted again")  # type: ignore[misc]
    site.settle()
    site.check()
    assert site.scalar(_EVENTS) == len(site.accepted)
    assert site.postgres() == before


def test_a_log_without_room_ends_postgresql_and_its_return_needs_nobody(site: Site) -> None:
    numbers = iter(range(100_000))
    for _ in range(30):
        assert site.add(next(numbers)) == 200
    before = site.postgres()
    with site.disk.full():
        wait_until(lambda: not _next_log_segment(site), "PostgreSQL has ended")
        site.add_until_refused(numbers, _REFUSALS)
        wait_until(lambda: _restarts(site) >= 2, "the launcher has started it in vain")
        site.add_until_refused(numbers, _REFUSALS)
    for number in sorted(site.refused):
        wait_until(lambda number=number: site.add(number) == 200, "adds are accepted again")  # type: ignore[misc]
    site.settle()
    site.check()
    assert site.read() == [200, 200, 200]
    assert site.postgres() != before


def _next_log_segment(site: Site) -> bool:
    """Whether PostgreSQL found room for it."""
    url = site.state.environment["MEMLANE_DATABASE_URL"].replace("+psycopg", "")
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=5) as connection:
            connection.execute("SELECT pg_switch_wal()")
            connection.execute("CREATE TEMP TABLE t AS SELECT 1")
    except psycopg.errors.DiskFull:
        return True  # refused, and still there
    except psycopg.OperationalError:
        return False
    return True


def _restarts(site: Site) -> int:
    state = read_state(site.stack.home)
    return state.restarts.get("postgres", 0) if state else 0
