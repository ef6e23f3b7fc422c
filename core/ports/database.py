"""The port of the database: transactions, and the stores inside one.

A service opens a transaction, works on its stores and commits by leaving the block; an exception rolls back.
`transaction(project)` runs as the application role under row-level security, `operations()` as the
operations role (claims, sweeps, heartbeats, key lookup), which sees every project. `statements(project)` and
`autocommit()` are the same two without a transaction around the statements.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol
from uuid import UUID

from core.ports.stores.archive import ArchiveStore
from core.ports.stores.changes import HistoryReads, MemoryChanges
from core.ports.stores.collections import RebuildStore
from core.ports.stores.erasures import ErasureStore
from core.ports.stores.events import EventOverview, EventReads, EventStore
from core.ports.stores.ingestion import IngestionStore
from core.ports.stores.lanes import DueEvent, LaneRef, LaneStore
from core.ports.stores.memories import MemoryStore
from core.ports.stores.operations import OpsStore
from core.ports.stores.projections import ProjectionStore
from core.ports.stores.projects import ProjectStore
from core.ports.stores.reads import MemoryReads, ScopeEntityStore, SearchReads, TouchStore
from core.ports.stores.upkeep import CategorizationStore, RetentionStore, SynthesisStore
from core.ports.stores.webhooks import WebhookStore

__all__ = [
    "PASSING",
    "Database",
    "DatabaseUnavailable",
    "DueEvent",
    "LaneRef",
    "Transaction",
    "TransactionConflict",
    "UniqueViolation",
]


class DatabaseUnavailable(Exception):
    """PostgreSQL cannot be reached; a transaction that was open has not committed, as far as is known."""


class TransactionConflict(Exception):
    """Rolled back because of a deadlock or a lock that did not come; the same work can be tried again."""


# What a thread that works in rounds outlives: its next round comes anyway.
PASSING = (DatabaseUnavailable, TransactionConflict)


class UniqueViolation(Exception):
    """A unique index refused a row: somebody else was first."""


class Transaction(Protocol):
    """A store for each noun, all on one connection, in a transaction or without one; good until the block ends."""

    @property
    def events(self) -> EventStore: ...

    @property
    def event_reads(self) -> EventReads: ...

    @property
    def event_overview(self) -> EventOverview: ...

    @property
    def lanes(self) -> LaneStore: ...

    @property
    def memories(self) -> MemoryStore: ...

    @property
    def ingestion(self) -> IngestionStore: ...

    @property
    def memory_reads(self) -> MemoryReads: ...

    @property
    def search_reads(self) -> SearchReads: ...

    @property
    def touches(self) -> TouchStore: ...

    @property
    def changes(self) -> MemoryChanges: ...

    @property
    def history(self) -> HistoryReads: ...

    @property
    def scope_entities(self) -> ScopeEntityStore: ...

    @property
    def projections(self) -> ProjectionStore: ...

    @property
    def categorizations(self) -> CategorizationStore: ...

    @property
    def syntheses(self) -> SynthesisStore: ...

    @property
    def projects(self) -> ProjectStore: ...

    @property
    def rebuild(self) -> RebuildStore: ...

    @property
    def archive(self) -> ArchiveStore: ...

    @property
    def retention(self) -> RetentionStore: ...

    @property
    def erasures(self) -> ErasureStore: ...

    @property
    def webhooks(self) -> WebhookStore: ...

    @property
    def ops(self) -> OpsStore: ...


class Database(Protocol):
    """All methods raise DatabaseUnavailable, on entering and on leaving; leaving can raise TransactionConflict and
    UniqueViolation too, for whatever the stores were asked to do."""

    def transaction(self, project_id: UUID) -> AbstractContextManager[Transaction]:
        """Confined to one project; commits on leaving."""
        ...

    def statements(self, project_id: UUID) -> AbstractContextManager[Transaction]:
        """Confined to one project, but every statement is a transaction of its own: nothing is rolled back together,
        and no lock outlives its statement. For reads, and for one write that guards itself.

        Several reads of one moment take one statement: two statements of a `transaction` see different moments too.
        """
        ...

    def operations(self) -> AbstractContextManager[Transaction]:
        """Sees every project; commits on leaving."""
        ...

    def autocommit(self) -> AbstractContextManager[Transaction]:
        """Like `operations`, but every statement is a transaction of its own, as in `statements`."""
        ...

    def alone(self, key: int) -> AbstractContextManager[bool]:
        """Gives True to one process at a time, until it leaves the block or dies; False to the others at once."""
        ...
