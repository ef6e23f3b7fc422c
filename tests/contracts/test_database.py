"""The pool over a real PostgreSQL that closes connections: what lay idle is passed over, what was begun is told."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from shutil import rmtree

import psycopg
import pytest
from sqlalchemy import Connection, text

from core.adapters.sql import control
from core.adapters.sql.database import PoolOptions, SqlDatabase, SqlTransaction
from core.adapters.sql.statement import Statement
from core.domain.ids import new_id
from core.ports.database import DatabaseUnavailable
from deploy.local.postgres_server import running_postgres
from deploy.migrations.run import upgrade
from tests.stack import short_home
from tests.waiting import wait_until

_SIZE = 3
_CUT = """
SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity
WHERE application_name LIKE 'memlane_%' AND datname = current_database() AND pid <> pg_backend_pid()
"""
_PID = text("SELECT pg_backend_pid()")


@pytest.fixture
def store(database: str) -> Iterator[SqlDatabase]:
    made = SqlDatabase(database, PoolOptions(size=_SIZE))
    yield made
    made.close()


def pids(store: SqlDatabase) -> set[int]:
    """Every connection of the pool, used at the same time."""
    found: set[int] = set()
    together = threading.Barrier(_SIZE)

    def use() -> None:
        with store.operations() as tx:
            found.add(tx.connection.execute(_PID).scalar_one())
            together.wait(10)

    threads = [threading.Thread(target=use) for _ in range(_SIZE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def cut_all(url: str) -> None:
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(_CUT)


def test_connections_that_the_server_closed_in_the_pool_cost_nobody_an_error(
    store: SqlDatabase, database: str
) -> None:
    before = pids(store)
    assert len(before) == _SIZE
    cut_all(database)
    after = pids(store)
    assert len(after) == _SIZE
    assert not before & after


def test_connections_that_a_crash_in_the_server_ended_cost_nobody_an_error() -> None:
    """PostgreSQL ends all its connections when one of its processes dies; the driver notices late."""
    home = short_home()
    with running_postgres(home, durable=False) as server:
        url = server.create_database("crashing")
        upgrade(url)
        store = SqlDatabase(url, PoolOptions(size=_SIZE))
        before = pids(store)
        os.kill(min(before), signal.SIGKILL)
        wait_until(lambda: not before & backends(url), what="PostgreSQL has recovered")
        assert not before & pids(store)
        store.close()
    rmtree(home, ignore_errors=True)


def backends(url: str) -> set[int]:
    """Those of this moment. Waits until the server accepts connections."""

    def found() -> set[int]:
        try:
            with psycopg.connect(url.replace("+psycopg", "")) as connection:
                return {row[0] for row in connection.execute("SELECT pid FROM pg_stat_activity")}
        except psycopg.OperationalError:
            return set()

    return wait_until(found, what="PostgreSQL accepts connections")


def test_statements_are_confined_to_their_project_whoever_had_the_session_before(database: str) -> None:
    store, one, other = SqlDatabase(database, PoolOptions(size=1)), new_id(), new_id()
    named = text("SELECT current_setting('memlane.project', true)")
    for project in (one, one, other, one):
        with store.statements(project) as tx:
            assert tx.connection.execute(named).scalar_one() == str(project)
        with store.transaction(other) as tx:
            assert tx.connection.execute(named).scalar_one() == str(other)
        with store.statements(project) as tx:
            assert tx.connection.execute(named).scalar_one() == str(project)
    store.close()


def test_statements_keep_no_lock_between_them(store: SqlDatabase) -> None:
    project = new_id()
    with store.statements(project) as tx:
        tx.memories.lock_scopes(project, ["scope"])
        with store.transaction(project) as beside:
            beside.memories.lock_scopes(project, ["scope"])


def test_sessions_that_the_server_ended_cost_statements_no_error(store: SqlDatabase, database: str) -> None:
    project = new_id()
    for _ in range(2):
        with store.statements(project) as tx:
            tx.memories.marks(project, ["scope"])
        cut_all(database)


def test_sessions_that_the_server_ended_cost_no_claim_an_error(store: SqlDatabase, database: str) -> None:
    pids(store)
    cut_all(database)
    for _ in range(2 * _SIZE):
        with store.autocommit() as tx:
            assert tx.lanes.take("nobody", 0.0) is None
    with store.alone(1) as mine:
        assert mine


def test_a_connection_that_is_lost_in_a_transaction_is_not_replaced_without_a_word(
    store: SqlDatabase, database: str
) -> None:
    """Whoever swallowed the loss would go on outside the transaction, on a session of nobody's."""
    project = new_id()
    told: list[str] = []

    def work(tx: SqlTransaction) -> None:
        cut_all(database)
        for _ in range(2):
            try:
                tx.memories.marks(project, ["scope"])
            except (DatabaseUnavailable, psycopg.Error) as error:
                told.append(type(error).__name__)

    with pytest.raises(DatabaseUnavailable), store.transaction(project) as tx:
        work(tx)
    assert len(told) == 2


def test_nothing_is_told_as_committed_that_is_rolled_back(store: SqlDatabase, database: str) -> None:
    """SQLAlchemy makes a lost connection anew; the transaction on it is not made anew with it."""

    def work(tx: SqlTransaction) -> None:
        cut_all(database)
        with pytest.raises(psycopg.Error):
            Statement("SELECT 1").scalar(tx.connection, {})
        assert tx.connection.execute(text("SELECT 1")).scalar_one() == 1

    with pytest.raises(DatabaseUnavailable), store.transaction(new_id()) as tx:
        work(tx)


def test_a_session_whose_change_of_project_was_broken_off_is_told_its_project_anew(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, one, other = SqlDatabase(database, PoolOptions(size=1)), new_id(), new_id()
    with store.statements(one):
        pass
    really = control.run

    def broken_off(connection: Connection, sql: bytes) -> bytes:
        really(connection, sql)
        raise KeyboardInterrupt

    monkeypatch.setattr(control, "run", broken_off)
    with pytest.raises(KeyboardInterrupt), store.statements(other):
        pass
    monkeypatch.undo()
    with store.statements(one) as tx:
        assert Statement("SELECT current_setting('memlane.project')").scalar(tx.connection, {}) == str(one)
    store.close()


def test_a_session_that_ends_between_two_statements_is_told(store: SqlDatabase, database: str) -> None:
    project = new_id()

    def work() -> None:
        with store.statements(project) as tx:
            tx.memories.marks(project, ["scope"])
            cut_all(database)
            tx.memories.marks(project, ["scope"])

    with pytest.raises(DatabaseUnavailable):
        work()
    with store.statements(project) as tx:
        assert tx.memories.marks(project, ["scope"]) == {}


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("SELECT 1 / :n", psycopg.errors.DivisionByZero),
        ("SELECT nonsense WHERE :n = 0", psycopg.errors.UndefinedColumn),
        ("SELECT pg_sleep(5 + :n)", DatabaseUnavailable),
    ],
    ids=["arithmetic", "a bug", "out of time"],
)
def test_a_failing_statement_is_told_as_what_it_is(database: str, sql: str, error: type[Exception]) -> None:
    store = SqlDatabase(database, PoolOptions(size=1, statement_timeout=0.2))
    with pytest.raises(error), store.statements(new_id()) as tx:
        Statement(sql).rows(tx.connection, {"n": 0})
    with store.statements(new_id()) as tx:
        assert Statement("SELECT :n + 1").scalar(tx.connection, {"n": 1}) == 2
    store.close()


def test_percent_signs_colons_and_casts_are_left_alone(store: SqlDatabase) -> None:
    said = Statement("SELECT '100 %' || :word::text || ' at 10:30 %s' AS said, 5 % 3 AS rest")
    with store.statements(new_id()) as tx:
        assert tuple(said.first(tx.connection, {"word": " of: it"})) == ("100 % of: it at 10:30 %s", 2)


def test_a_transaction_that_had_begun_is_not_done_twice_but_told(store: SqlDatabase, database: str) -> None:
    runs = []

    def work() -> None:
        with store.operations() as tx:
            runs.append(tx)
            cut_all(database)
            tx.connection.execute(_PID)

    with pytest.raises(DatabaseUnavailable):
        work()
    assert len(runs) == 1


def test_a_server_that_is_away_is_told_at_once(database: str) -> None:
    away = SqlDatabase("postgresql+psycopg://memlane@/none?host=/nowhere", PoolOptions(size=_SIZE))
    with pytest.raises(DatabaseUnavailable), away.operations():
        pass
    away.close()


def test_a_server_that_is_gone_without_a_word_is_noticed(store: SqlDatabase) -> None:
    with store.operations() as tx:
        driver = tx.connection.connection.driver_connection
        assert driver is not None
        parameters = driver.info.get_parameters()
    assert int(parameters["tcp_user_timeout"]) <= 30_000
    assert int(parameters["keepalives_idle"]) + 5 * int(parameters["keepalives_count"]) <= 30
