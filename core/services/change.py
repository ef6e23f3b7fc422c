"""What reading and changing one memory have in common: which one is meant, and who may change it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from core.domain.errors import MemlaneError
from core.domain.ids import parse_id
from core.domain.memory import Memory
from core.ports.database import Transaction, TransactionConflict, UniqueViolation

T = TypeVar("T")
TRIES = 4


@dataclass(frozen=True)
class Target:
    """One memory of a project. `version` is the one that the caller has seen (If-Match), None for any."""

    project_id: UUID
    memory_id: UUID
    version: int | None = None


def memory_id(written: str) -> UUID:
    """Raises MemlaneError("memory_id_invalid") for anything but the usual 36 characters of a UUID."""
    parsed = parse_id(written)
    if parsed is None:
        raise MemlaneError("memory_id_invalid")
    return parsed


def locked(tx: Transaction, target: Target) -> Memory:
    """The memory, its row locked. Raises `memory_not_found`, `version_mismatch`."""
    rows = tx.changes.lock(target.project_id, [target.memory_id])
    if not rows:
        raise MemlaneError("memory_not_found")
    memory = rows[0]
    if target.version is not None and target.version != memory.version:
        raise MemlaneError("version_mismatch", current_version=memory.version)
    return memory


def tried_again(work: Callable[[], T]) -> T:
    """Run a transaction; when another writer was in the way (a deadlock, a text stored first) run it anew.

    Raises TransactionConflict or UniqueViolation in the end.
    """
    for _ in range(TRIES - 1):
        try:
            return work()
        except (TransactionConflict, UniqueViolation):
            continue  # rolled back whole: nothing of it is left
    return work()
