"""Fixtures of the whole suite. What a test shares with others is isolated by project or by database."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from shutil import rmtree

import pytest

from deploy.local.postgres import Postgres
from deploy.local.postgres_server import running_postgres
from tests import not_run


def pytest_collection_finish() -> None:
    not_run.fail_if_required()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    not_run.report(terminalreporter)


def short_home() -> Path:
    """A temporary folder any account can reach; pytest's own lie in one that only its user can."""
    return Path(tempfile.mkdtemp(prefix="memlane-test-"))


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


@pytest.fixture
def new_migrated_database(new_database: Callable[[], str]) -> str:
    """SQLAlchemy URL (owner) of a migrated database that this test has for itself."""
    from deploy.migrations.run import upgrade

    url = new_database()
    upgrade(url)
    return url
