"""BEGIN, COMMIT, a session's project and other runs of statements without parameters, in one round trip each.

The driver would send BEGIN and the project's name as two statements of their own, which is a quarter of all
round trips of a short transaction; here both go to the server as one simple query on an autocommit connection.
"""

from __future__ import annotations

import select
from typing import Any
from uuid import UUID

import psycopg
from psycopg import OperationalError, pq
from sqlalchemy import Connection

from core.ports.database import DatabaseUnavailable, TransactionConflict

CONFLICTS = ("40P01", "40001", "55P03")  # deadlock, serialization failure, lock not available
# The server has ended the connection with these; one without a state comes from the driver, which lost it. Its status
# may still read as good then.
_OVER = ("08", "57P")
_CONFINED = "memlane.project"  # in Connection.info, which lives as long as the session
_GOOD = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK)


def begin(connection: Connection, project_id: UUID | None) -> None:
    """Start a transaction, confined to a project where one is named. Raises DatabaseUnavailable."""
    named = (
        b""
        if project_id is None
        else b"; SELECT set_config('memlane.project', '%s', true)" % str(project_id).encode()
    )
    run(connection, b"BEGIN" + named)


def confine(connection: Connection, project_id: UUID) -> None:
    """Confine the session to a project, for statements outside any transaction; a transaction names its own.

    A session that is confined to it already is not asked again, unless the server has said something meanwhile: that
    it ends the session, as a rule. Raises DatabaseUnavailable.
    """
    if connection.info.get(_CONFINED) == project_id and not _unread(connection):
        return
    connection.info.pop(_CONFINED, None)
    run(connection, b"SELECT set_config('memlane.project', '%s', false)" % str(project_id).encode())
    connection.info[_CONFINED] = project_id


def awake(connection: Connection) -> None:
    """Find out whether a session that lay in the pool is still there. Raises DatabaseUnavailable."""
    if _unread(connection):
        run(connection, b"SELECT 1")


def _unread(connection: Connection) -> bool:
    """Something has arrived that nobody has read. A closed connection counts."""
    driver = driver_of(connection)
    if driver.closed:
        return True
    waiting = select.poll()
    waiting.register(driver.fileno(), select.POLLIN)
    return bool(waiting.poll(0))


def commit(connection: Connection) -> None:
    """Raises TransactionConflict, DatabaseUnavailable: then nothing is known to be stored."""
    if driver_of(connection).pgconn.transaction_status == pq.TransactionStatus.IDLE:
        raise DatabaseUnavailable("the connection was lost before the transaction's end, and with it the transaction")
    if run(connection, b"COMMIT") != b"COMMIT":
        raise TransactionConflict("the transaction had failed before its end and was rolled back")


def run(connection: Connection, sql: bytes) -> bytes:
    """The command tag of the last of several statements, which are one transaction where none is open.

    A broken connection is taken out of the pool. Raises TransactionConflict, DatabaseUnavailable.
    """
    driver = driver_of(connection)
    try:
        result = driver.pgconn.exec_(sql)
    except OperationalError as error:  # the connection was closed on our side after a failure
        connection.invalidate()
        raise DatabaseUnavailable(str(error)) from error
    if result.status in _GOOD:
        return bytes(result.command_status or b"")
    state = (result.error_field(pq.DiagnosticField.SQLSTATE) or b"").decode()
    said = (result.error_message or driver.pgconn.error_message or b"").decode(errors="replace").strip()
    if lost(driver, state):
        connection.invalidate()
    if state in CONFLICTS:
        raise TransactionConflict(said)
    raise DatabaseUnavailable(said or "the connection was lost")


def driver_of(connection: Connection) -> psycopg.Connection[Any]:
    """The driver's connection. A lost one is not made anew, as SQLAlchemy would without a word in the middle of a
    transaction. Raises DatabaseUnavailable."""
    driver = None if connection.invalidated else connection.connection.driver_connection
    if not isinstance(driver, psycopg.Connection):
        raise DatabaseUnavailable("the connection was lost")
    return driver


def lost(driver: psycopg.Connection[Any], state: str | None) -> bool:
    """Whether an error with this SQLSTATE has cost the connection: not all that mean "away" do (a full disk)."""
    return driver.pgconn.status == pq.ConnStatus.BAD or not state or state.startswith(_OVER)
