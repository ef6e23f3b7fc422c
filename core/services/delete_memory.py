"""Delete: one memory, at will with the older ones that it replaced, or a list of them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from core.domain.filters import Cond
from core.domain.memory import Memory
from core.ports.database import Transaction
from core.services.change import Target, locked, tried_again
from core.services.project import affected, project_now
from core.services.runtime import Runtime


def delete_memory(runtime: Runtime, target: Target, *, linked: bool = False) -> int:
    """Returns how many older memories went with it (`linked`: those that it replaced, through all steps).

    The memory is gone for get, list and search when this returns. Raises MemlaneError: `memory_not_found`,
    `version_mismatch`.
    """

    def work() -> tuple[int, list[UUID]]:
        with runtime.database.transaction(target.project_id) as tx:
            memories = [locked(tx, target)]
            if linked:
                chain = tx.changes.linked(target.project_id, target.memory_id)
                memories += tx.changes.lock(target.project_id, chain)
            return len(memories) - 1, delete_in(tx, target.project_id, memories)

    cascaded, waiting = tried_again(work)
    project_now(runtime, target.project_id, waiting)
    return cascaded


def delete_in(tx: Transaction, project_id: UUID, memories: Sequence[Memory]) -> list[UUID]:
    """Inside the caller's transaction; returns the memories to project after the commit, neighbours among them."""
    ids = [memory.id for memory in memories]
    waiting = list(dict.fromkeys([*ids, *affected(tx, project_id, memories)]))
    tx.changes.mark_deleted(project_id, Cond("memory_ids", "in", tuple(ids)))
    tx.changes.unlink(project_id, ids)
    tx.projections.request(project_id, waiting)
    return waiting
