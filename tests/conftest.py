"""Fixtures of the whole suite. What a test shares with others is isolated by project or by database."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from shutil import rmtree
from typing import Any
from uuid import UUID

import httpx
import pytest

from core.adapters.sql.database import SqlDatabase
from core.services.issue_key import issue_key
from deploy.local.postgres import Postgres
from deploy.local.postgres_server import running_postgres
from deploy.local.stack_state import StackState
from tests.machine import MachinePlugin
from tests.stack import running_stack, short_home
from tests.switches import switch_off_as_asked
from tests.waiting import wait_until

os.environ["MEM0_TELEMETRY"] = "false"  # read by mem0 when it is imported


def pytest_configure(config: pytest.Config) -> None:
    switch_off_as_asked()
    config.pluginmanager.register(MachinePlugin(), "memlane-machine")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """One PostgreSQL for the session, without the durability that only a power cut would need."""
    home = short_home()
    try:
        with running_postgres(home, durable=False) as server:
            yield server
    finally:
        rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def new_database(postgres_server: Postgres) -> Callable[[], str]:
    """Makes an empty database at each call and returns its SQLAlchemy URL; `database` is the migrated one."""
    numbers = count(1)
    return lambda: postgres_server.create_database(f"test_{next(numbers)}")


@pytest.fixture(scope="session")
def database(new_database: Callable[[], str]) -> str:
    """SQLAlchemy URL (owner) of a migrated database that all store tests share; use a fresh project per test."""
    from deploy.migrations.run import upgrade

    url = new_database()
    upgrade(url)
    return url


@dataclass(frozen=True)
class Stack:
    """The session's stack: where its API is, where its files are, and its database for looking behind."""

    url: str
    home: Path
    state: StackState
    database: SqlDatabase


@dataclass(frozen=True)
class TestProject:
    """A project of this test alone, with a key that may do everything in it."""

    __test__ = False  # not a test class, whatever its name says
    id: UUID
    key: str
    url: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Token {self.key}"}


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """`memlane up`, once for the session: PostgreSQL, Valkey, the index endpoint, the API, the workers."""
    with running_stack() as (launch, state):
        database = SqlDatabase(state.environment["MEMLANE_DATABASE_URL"])
        try:
            yield Stack(state.api_url, launch.home, state, database)
        finally:
            database.close()


@pytest.fixture
def new_project(stack: Stack) -> Callable[[], TestProject]:
    """Makes a further project of the session's stack at each call."""

    def make() -> TestProject:
        issued = issue_key(stack.database, "test")
        return TestProject(issued.project_id, issued.key, stack.url)

    return make


@pytest.fixture
def project(new_project: Callable[[], TestProject]) -> TestProject:
    return new_project()


@pytest.fixture
def client(project: TestProject) -> Iterator[httpx.Client]:
    """Plain HTTP with the project's key."""
    with httpx.Client(base_url=project.url, headers=project.headers, timeout=30.0) as client:
        yield client


@pytest.fixture
def official_client(project: TestProject) -> Iterator[Any]:
    """The unmodified client of the PyPI package mem0ai, pointed at the stack."""
    from mem0 import MemoryClient

    client = MemoryClient(api_key=project.key, host=project.url)
    yield client
    client.client.close()


@pytest.fixture
def wait_event(client: httpx.Client) -> Callable[[str], dict[str, Any]]:
    """Polls an event to its end and returns it; fails the test after 60 s."""

    def wait(event_id: str) -> dict[str, Any]:
        def ended() -> dict[str, Any] | None:
            answer = client.get(f"/v1/event/{event_id}/")
            answer.raise_for_status()
            event: dict[str, Any] = answer.json()
            return event if event["status"] in ("SUCCEEDED", "FAILED") else None

        return wait_until(ended, 60.0, what=f"event {event_id} ends")

    return wait
