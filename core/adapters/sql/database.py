"""Transactions over SQLAlchemy and psycopg 3: roles, the project of a transaction, and what errors mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

import psycopg
from sqlalchemy import Connection, Engine, create_engine, exc

from core.adapters.sql.archive_store import SqlArchiveStore
from core.adapters.sql.categorization_store import SqlCategorizationStore
from core.adapters.sql.control import CONFLICTS, awake, begin, commit, confine
from core.adapters.sql.erasure_store import SqlErasureStore
from core.adapters.sql.event_overview import SqlEventOverview
from core.adapters.sql.event_reads import SqlEventReads
from core.adapters.sql.event_store import SqlEventStore
from core.adapters.sql.history_reads import SqlHistoryReads
from core.adapters.sql.ingestion_store import SqlIngestionStore
from core.adapters.sql.json_value import json_value
from core.adapters.sql.lane_store import SqlLaneStore
from core.adapters.sql.memory_changes import SqlMemoryChanges
from core.adapters.sql.memory_reads import SqlMemoryReads
from core.adapters.sql.memory_store import SqlMemoryStore
from core.adapters.sql.ops_store import SqlOpsStore
from core.adapters.sql.project_store import SqlProjectStore
from core.adapters.sql.projection_store import SqlProjectionStore
from core.adapters.sql.rebuild_store import SqlRebuildStore
from core.adapters.sql.retention_store import SqlRetentionStore
from core.adapters.sql.scope_entity_store import SqlScopeEntityStore
from core.adapters.sql.search_reads import SqlSearchReads
from core.adapters.sql.synthesis_store import SqlSynthesisStore
from core.adapters.sql.touch_store import SqlTouchStore
from core.adapters.sql.webhook_store import SqlWebhookStore
from core.ports.database import DatabaseUnavailable, TransactionConflict, UniqueViolation

# Classes and states in which the server cannot do its work at the moment: connections, resources (53100: its disk is
# full), operators, the system below it (I/O errors); ended for standing idle; a server that takes no writes.
_AWAY = ("08", "53", "57", "58", "25P03", "25006")
# A server that is gone without a word is noticed within half a minute (the kernel's own patience is hours).
_DEAD_PEER = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 20_000}


@dataclass(frozen=True)
class PoolOptions:
    """`size` connections per role; `idle_in_transaction` seconds end a stopped worker's transaction."""

    size: int = 8
    wait: float = 5.0
    statement_timeout: float = 30.0
    lock_timeout: float = 10.0
    idle_in_transaction: float = 60.0


class SqlTransaction:
    """Implements core.ports.database.Transaction; every store works on the same connection."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    @cached_property
    def events(self) -> SqlEventStore:
        return SqlEventStore(self.connection)

    @cached_property
    def event_reads(self) -> SqlEventReads:
        return SqlEventReads(self.connection)

    @cached_property
    def event_overview(self) -> SqlEventOverview:
        return SqlEventOverview(self.connection)

    @cached_property
    def lanes(self) -> SqlLaneStore:
        return SqlLaneStore(self.connection)

    @cached_property
    def memories(self) -> SqlMemoryStore:
        return SqlMemoryStore(self.connection)

    @cached_property
    def ingestion(self) -> SqlIngestionStore:
        return SqlIngestionStore(self.connection)

    @cached_property
    def memory_reads(self) -> SqlMemoryReads:
        return SqlMemoryReads(self.connection)

    @cached_property
    def search_reads(self) -> SqlSearchReads:
        return SqlSearchReads(self.connection)

    @cached_property
    def touches(self) -> SqlTouchStore:
        return SqlTouchStore(self.connection)

    @cached_property
    def changes(self) -> SqlMemoryChanges:
        return SqlMemoryChanges(self.connection)

    @cached_property
    def history(self) -> SqlHistoryReads:
        return SqlHistoryReads(self.connection)

    @cached_property
    def scope_entities(self) -> SqlScopeEntityStore:
        return SqlScopeEntityStore(self.connection)

    @cached_property
    def projections(self) -> SqlProjectionStore:
        return SqlProjectionStore(self.connection)

    @cached_property
    def categorizations(self) -> SqlCategorizationStore:
        return SqlCategorizationStore(self.connection)

    @cached_property
    def syntheses(self) -> SqlSynthesisStore:
        return SqlSynthesisStore(self.connection)

    @cached_property
    def projects(self) -> SqlProjectStore:
        return SqlProjectStore(self.connection)

    @cached_property
    def rebuild(self) -> SqlRebuildStore:
        return SqlRebuildStore(self.connection)

    @cached_property
    def archive(self) -> SqlArchiveStore:
        return SqlArchiveStore(self.connection)

    @cached_property
    def retention(self) -> SqlRetentionStore:
        return SqlRetentionStore(self.connection)

    @cached_property
    def erasures(self) -> SqlErasureStore:
        return SqlErasureStore(self.connection)

    @cached_property
    def webhooks(self) -> SqlWebhookStore:
        return SqlWebhookStore(self.connection)

    @cached_property
    def ops(self) -> SqlOpsStore:
        return SqlOpsStore(self.connection)


class SqlDatabase:
    """Implements core.ports.database.Database; one pool for each of the two roles."""

    def __init__(self, url: str, options: PoolOptions | None = None) -> None:
        self._options = options or PoolOptions()
        self._app = self._engine(url, "memlane_app")
        self._ops = self._engine(url, "memlane_ops")

    def _engine(self, url: str, role: str) -> Engine:
        chosen = self._options
        settings = {
            "role": role,
            "statement_timeout": int(chosen.statement_timeout * 1000),
            "lock_timeout": int(chosen.lock_timeout * 1000),
            "idle_in_transaction_session_timeout": int(chosen.idle_in_transaction * 1000),
            "timezone": "UTC",
            "application_name": role,
        }
        return create_engine(
            url,
            pool_size=chosen.size,
            max_overflow=0,
            pool_timeout=chosen.wait,
            json_deserializer=json_value,
            isolation_level="AUTOCOMMIT",  # begin and commit are ours (control.py); the pool rolls back what is left
            connect_args={
                "connect_timeout": 5,
                **_DEAD_PEER,
                "options": " ".join(f"-c {name}={value}" for name, value in settings.items()),
                "prepare_threshold": 3,
            },
        )

    @contextmanager
    def transaction(self, project_id: UUID) -> Iterator[SqlTransaction]:
        """A transaction of the application role, confined to one project; commits on leaving."""
        with _errors(), self._prepared(self._app, lambda connection: begin(connection, project_id)) as connection:
            yield SqlTransaction(connection)
            commit(connection)

    @contextmanager
    def statements(self, project_id: UUID) -> Iterator[SqlTransaction]:
        """The application role, confined to one project, without a transaction around its statements."""
        with _errors(), self._prepared(self._app, lambda connection: confine(connection, project_id)) as connection:
            yield SqlTransaction(connection)

    @contextmanager
    def operations(self) -> Iterator[SqlTransaction]:
        """A transaction of the operations role, which sees every project; commits on leaving."""
        with _errors(), self._prepared(self._ops, lambda connection: begin(connection, None)) as connection:
            yield SqlTransaction(connection)
            commit(connection)

    @contextmanager
    def autocommit(self) -> Iterator[SqlTransaction]:
        """The operations role without a transaction around its statements: no lock outlives its statement."""
        with _errors(), self._prepared(self._ops, awake) as connection:
            yield SqlTransaction(connection)

    @contextmanager
    def alone(self, key: int) -> Iterator[bool]:
        """A session's advisory lock on a connection of its own; PostgreSQL frees it when the connection is gone."""
        with _errors(), self._prepared(self._ops, awake) as connection:
            mine = bool(connection.exec_driver_sql("SELECT pg_try_advisory_lock(%s)", (key,)).scalar_one())
            try:
                yield mine
            finally:
                if mine:
                    connection.exec_driver_sql("SELECT pg_advisory_unlock(%s)", (key,))

    @contextmanager
    def _prepared(self, engine: Engine, prepare: Callable[[Connection], None]) -> Iterator[Connection]:
        """A connection after its first words. What the server has closed in the pool is passed over, at most a
        pool full: nothing had been sent over it. A server that is away refuses the first new connection."""
        for left in range(self._options.size, -1, -1):
            with engine.connect() as connection:
                try:
                    prepare(connection)
                except DatabaseUnavailable:
                    if connection.invalidated and left:
                        continue
                    raise
                yield connection
                return

    def close(self) -> None:
        self._app.dispose()
        self._ops.dispose()


@contextmanager
def _errors() -> Iterator[None]:
    """Driver errors that callers can act on become the port's; all others are bugs and pass unchanged."""
    try:
        yield
    except exc.TimeoutError as error:
        raise DatabaseUnavailable("no database connection became free in time") from error
    except (exc.DBAPIError, psycopg.Error) as error:
        told = _told(error.orig if isinstance(error, exc.DBAPIError) else error)
        if told is None:
            raise
        raise told from error


def _told(error: BaseException | None) -> Exception | None:
    """The port's name for an error of the driver. One without a state comes from the driver itself: it has lost the
    connection, or it refuses what it was given, which is a bug."""
    state = getattr(error, "sqlstate", None)
    if isinstance(error, psycopg.IntegrityError):
        return UniqueViolation(str(error))
    if state in CONFLICTS:
        return TransactionConflict(str(error))
    if state is None:
        away = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    else:
        away = state.startswith(_AWAY)
    return DatabaseUnavailable(str(error)) if away else None
