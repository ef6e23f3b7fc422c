"""The embedded PostgreSQL: durable, by socket only, in places its account can reach."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from deploy.local.failure import StackFailure
from deploy.local.postgres import Postgres, moved_folder
from deploy.local.postgres_server import running_postgres
from tests.stack import short_home

SOCKET_LIMIT = 107


@pytest.fixture
def home() -> Iterator[Path]:
    home = short_home()
    yield home
    shutil.rmtree(home, ignore_errors=True)


def test_it_is_durable_and_listens_on_no_address(home: Path) -> None:
    with running_postgres(home) as server, psycopg.connect(server.url("postgres", "postgresql")) as connection:
        names = ("fsync", "synchronous_commit", "full_page_writes", "listen_addresses", "max_connections")
        found = {name: connection.execute(f"SHOW {name}").fetchone() for name in names}
    assert found == {
        "fsync": ("on",),
        "synchronous_commit": ("on",),
        "full_page_writes": ("on",),
        "listen_addresses": ("",),
        "max_connections": ("100",),
    }


def test_a_killed_server_starts_again_with_its_data(home: Path) -> None:
    with running_postgres(home, durable=False) as server:
        url = server.create_database("kept").replace("+psycopg", "")
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE t AS SELECT 7 AS n")
        os.kill(int((server.data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
    with running_postgres(home, durable=False) as server:
        url = server.url("kept", "postgresql")
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT n FROM t").fetchone() == (7,)


def test_what_a_killed_set_up_left_is_not_taken_for_a_database(home: Path) -> None:
    (home / "postgres.new").mkdir()
    (home / "postgres.new" / "PG_VERSION").write_text("18\n")
    with running_postgres(home, durable=False) as server:
        assert server.create_database("fine").startswith("postgresql+psycopg://")


def test_data_of_another_major_version_is_refused_with_a_way_out(home: Path) -> None:
    server = Postgres(home)
    server.locate()
    server.discard_sockets()
    server.data.mkdir()
    (server.data / "PG_VERSION").write_text("14\n")
    with pytest.raises(StackFailure, match=r"made by PostgreSQL 14(.|\n)*memlane export"):
        server.create()


def test_sockets_stay_short_whatever_the_temporary_folder_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = home / ("x" * 100)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    server = Postgres(home)
    server.locate()
    server.discard_sockets()
    assert len(str(server.sockets / ".s.PGSQL.5432").encode()) <= SOCKET_LIMIT
    assert server.sockets.parent != deep


def test_a_home_its_account_cannot_reach_is_left_as_it_is(home: Path) -> None:
    """Only root's account is another one; everybody else's data stays in MEMLANE_HOME."""
    closed = home / "closed"
    closed.mkdir(mode=0o700)
    server = Postgres(closed / "inner")
    server.locate()
    server.discard_sockets()
    try:
        assert server.moved == (os.geteuid() == 0)
        assert closed.stat().st_mode & 0o777 == 0o700
        if server.user is not None:
            assert server.user.can_enter(server.data.parent)
            assert server.data.parent == moved_folder(closed / "inner")
    finally:
        shutil.rmtree(moved_folder(closed / "inner"), ignore_errors=True)
