"""The port of the database: transactions, and the stores inside one.

A service opens a transaction, works on its stores and commits by leaving the block; an exception rolls back.
`transaction(project)` runs as the application role under row-level security, `operations()` as the
operations role (claims, sweeps, heartbeats, key lookup), which sees every project.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID


class DatabaseUnavailable(Exception):
    """PostgreSQL cannot be reached; a transaction that was open has not committed, as far as is known."""


class TransactionConflict(Exception):
    """Rolled back because of a deadlock or a lock that did not come; the same work can be tried again."""


# What a thread that works in rounds outlives: its next round comes anyway.
PASSING = (DatabaseUnavailable, TransactionConflict)


class UniqueViolation(Exception):
    """A unique index refused a row: somebody else was first."""


class Database(Protocol):
    """Stores are reached as attributes of what the context managers give; see adapters/sql/database.py."""

    def transaction(self, project_id: UUID) -> AbstractContextManager[Any]: ...

    def operations(self) -> AbstractContextManager[Any]: ...

    def autocommit(self) -> AbstractContextManager[Any]:
        """Like `operations`, but every statement is a transaction of its own: no lock is held between two."""
        ...

    def alone(self, key: int) -> AbstractContextManager[bool]:
        """Gives True to one process at a time, until it leaves the block or dies; False to the others at once."""
        ...


@dataclass(frozen=True)
class LaneRef:
    """A lane of a project; `fence` proves a worker's lease on it (None: none held)."""

    project_id: UUID
    lane_key: str
    fence: int | None = None


@dataclass(frozen=True)
class DueEvent:
    """An open event of a held lane, to be worked on now; `crashes` = workers lost with it so far."""

    id: UUID
    state: str
    crashes: int = 0
