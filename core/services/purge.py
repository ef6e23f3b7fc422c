"""Purge: the job of DELETE_ALL and DELETE_USER. Removes rows, history, links and index points of what was deleted."""

from __future__ import annotations

from uuid import UUID

from core.domain.filters import Node
from core.domain.selection import Selection
from core.domain.work import Done, EventWork, Superseded
from core.ports.database import LaneRef, Transaction
from core.ports.stores.events import EventResult
from core.services.commit import LostClaim
from core.services.project import affected, project
from core.services.runtime import Runtime

BATCH = 500


def purge(runtime: Runtime, lane: LaneRef, work: EventWork) -> Done | Superseded:
    """Delete again what adds accepted before this event have stored since, then purge in batches.

    Raises IndexUnavailable, DatabaseUnavailable, TransactionConflict; every batch is done for good, so that a
    second run goes on where the first one stopped.
    """
    where = Selection.of_payload(work.payload).where()
    with runtime.database.transaction(work.project_id) as tx:
        if not tx.lanes.holds(lane):
            return Superseded()
        tx.changes.mark_deleted(work.project_id, where, before_event=work.id)
    purged = 0
    while True:
        with runtime.database.transaction(work.project_id) as tx:
            if not tx.lanes.holds(lane):
                return Superseded()
            number, waiting = _purge_some(tx, work.project_id, where)
        project(runtime, work.project_id, waiting)
        purged += number
        if number < BATCH:
            break
    return _finish(runtime, lane, work, purged)


def _purge_some(tx: Transaction, project_id: UUID, where: Node) -> tuple[int, list[UUID]]:
    """One batch; returns its size, and the points to delete or, where a neighbour is gone, to write anew."""
    memories = tx.changes.deleted(project_id, where, BATCH)
    waiting = list(dict.fromkeys([*(memory.id for memory in memories), *affected(tx, project_id, memories)]))
    tx.changes.purge(project_id, memories)
    tx.projections.request(project_id, waiting)
    return len(memories), waiting


def _finish(runtime: Runtime, lane: LaneRef, work: EventWork, purged: int) -> Done | Superseded:
    done: EventResult = {"results": [], "outcomes": [], "reason": None, "usage": {"deleted": purged}}
    with runtime.database.transaction(work.project_id) as tx:
        if not tx.lanes.holds(lane):
            return Superseded()
        if not tx.events.commit(lane, work.id, done):
            raise LostClaim
    return Done(work.id)
