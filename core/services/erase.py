"""Erase: an entity with everything that carries it, and nothing accepted before comes back."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from core.domain.erasure import DELETE_USER, Erasure, digest_of
from core.domain.errors import MemlaneError
from core.domain.ids import new_id
from core.domain.scope import ENTITY_TYPES, Scope
from core.domain.work import Done, EventWork, NewEvent, Superseded
from core.ports.database import LaneRef, Transaction
from core.ports.stores.events import EventResult
from core.services.change import tried_again
from core.services.commit import LostClaim
from core.services.project import affected, project
from core.services.runtime import Runtime

BATCH = 500


@dataclass(frozen=True)
class Whom:
    """An entity of a project; `keep_derived` spares memories of others that came out of a user's lanes."""

    project_id: UUID
    type: str
    name: str
    keep_derived: bool = False
    source: str | None = None


def erase(runtime: Runtime, whom: Whom) -> Erasure:
    """In one transaction: gone for every reader, open events ended as `erased`, workers there superseded.

    A job removes the texts. An entity that was erased before gives that erasure again. Raises MemlaneError:
    `entity_type_invalid`, `entity_not_found`.
    """
    if whom.type not in ENTITY_TYPES:
        raise MemlaneError("entity_type_invalid")
    scope = Scope.of({ENTITY_TYPES[whom.type]: whom.name})

    def work() -> tuple[Erasure, bool]:
        with runtime.database.transaction(whom.project_id) as tx:
            if tx.scope_entities.one(whom.project_id, whom.type, whom.name) is None:
                return _earlier(tx, whom), False
            erasure = _cut(runtime, tx, whom)
            payload = {"erasure_id": str(erasure.id)}
            event = NewEvent(erasure.event_id, DELETE_USER, scope, payload, whom.source)
            tx.events.accept(whom.project_id, event, names_entities=False)
            return erasure, tx.lanes.is_free(LaneRef(whom.project_id, scope.key))

    erasure, idle = tried_again(work)
    if idle:
        runtime.queue.wake("ingest", f"{whom.project_id}:{scope.key}")
    return erasure


def _earlier(tx: Transaction, whom: Whom) -> Erasure:
    found = tx.erasures.last(whom.project_id, digest_of(whom.type, whom.name))
    if found is None:
        raise MemlaneError("entity_not_found")
    return found


def _cut(runtime: Runtime, tx: Transaction, whom: Whom) -> Erasure:
    erasure = Erasure(
        id=new_id(),
        project_id=whom.project_id,
        digest=digest_of(whom.type, whom.name),
        type=whom.type,
        name=whom.name,
        keep_derived=whom.keep_derived,
        event_id=new_id(),
        created_at=runtime.clock.now(),
    )
    lanes = tx.erasures.lanes(whom.project_id, whom.type, whom.name)
    receipt = tx.erasures.cut(whom.project_id, lanes, MemlaneError("erased").as_dict())
    receipt |= tx.erasures.mark(erasure, lanes)
    erasure.receipt.update(receipt)
    tx.erasures.add(erasure)
    return erasure


def erase_job(runtime: Runtime, lane: LaneRef, work: EventWork) -> Done | Superseded:
    """Remove the marked rows in batches, then the entity itself; goes on where a lost worker stopped.

    Raises IndexUnavailable, DatabaseUnavailable, TransactionConflict, MemlaneError("erasure_not_found").
    """
    erasure_id = UUID(work.payload["erasure_id"])
    while True:
        with runtime.database.transaction(work.project_id) as tx:
            if not tx.lanes.holds(lane):
                return Superseded()
            erasure = tx.erasures.one(work.project_id, erasure_id)
            if erasure is None:
                raise MemlaneError("erasure_not_found")  # an imported event: erasures are in no archive
            waiting = _remove_some(tx, erasure)
        if not waiting:
            break
        project(runtime, work.project_id, waiting)
    return _finish(runtime, lane, work, erasure)


def _remove_some(tx: Transaction, erasure: Erasure) -> list[UUID]:
    """One batch; returns the points to delete or, where a neighbour is gone, to write anew. [] when all is done."""
    if erasure.type is None or erasure.name is None:
        return []
    lanes = tx.erasures.lanes(erasure.project_id, erasure.type, erasure.name)
    memories = tx.erasures.left(erasure, lanes, BATCH)
    if not memories:
        return []
    ids = [memory.id for memory in memories]
    receipt = dict(erasure.receipt)
    receipt["history"] = receipt.get("history", 0) + tx.erasures.history_of(erasure.project_id, ids)
    tx.erasures.count(erasure.id, receipt)
    waiting = list(dict.fromkeys([*ids, *affected(tx, erasure.project_id, memories)]))
    tx.changes.purge(erasure.project_id, memories)
    tx.projections.request(erasure.project_id, waiting)
    return waiting


def _finish(runtime: Runtime, lane: LaneRef, work: EventWork, erasure: Erasure) -> Done | Superseded:
    done: EventResult = {"results": [], "outcomes": [], "reason": None, "usage": {"erased": erasure.receipt}}
    with runtime.database.transaction(work.project_id) as tx:
        if not tx.lanes.holds(lane):
            return Superseded()
        if erasure.name is not None:
            tx.erasures.forget(erasure)
        if not tx.events.commit(lane, work.id, done):
            raise LostClaim
    return Done(work.id)


def read_erasure(runtime: Runtime, project_id: UUID, written: str) -> Erasure:
    """Raises MemlaneError("erasure_not_found")."""
    try:
        erasure_id = UUID(written)
    except ValueError:
        raise MemlaneError("erasure_not_found") from None
    with runtime.database.transaction(project_id) as tx:
        found = tx.erasures.one(project_id, erasure_id)
    if found is None:
        raise MemlaneError("erasure_not_found")
    return found
