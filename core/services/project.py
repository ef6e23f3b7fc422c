"""The projector: makes the index say what the memories table says now. One for all paths of change."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from core.domain.conversation import CONTEXT_REACH
from core.domain.memory import Memory, MemoryState
from core.domain.work import Version
from core.ports.database import DatabaseUnavailable, Transaction, TransactionConflict
from core.ports.index import IndexUnavailable, VectorIndex
from core.ports.stores.collections import ByRole
from core.services.collections import Collections, written_by
from core.services.points import build_points
from core.services.runtime import Runtime

_ROUNDS = 5
BATCH = 256


def project(runtime: Runtime, project_id: UUID, memory_ids: Sequence[UUID]) -> None:
    """Apply the waiting projections among `memory_ids`; returns when the index shows them.

    Raises IndexUnavailable (nothing is marked done; the sweep tries again).
    """
    for start in range(0, len(memory_ids), BATCH):
        with runtime.database.transaction(project_id) as tx:
            project_in(runtime, tx, project_id, memory_ids[start : start + BATCH], tx.rebuild.held())


def project_in(runtime: Runtime, tx: Transaction, project_id: UUID, memory_ids: Sequence[UUID], held: ByRole) -> None:
    """The same inside the caller's transaction, which holds the collections and may move events along with it.

    The projections rows stay locked during the call, so that two projectors cannot write one point in the
    wrong order; what was written is compared with the rows afterwards, and written again if they moved on.
    """
    started = time.monotonic()
    collections = written_by(runtime, tx, held)
    waiting = tx.projections.lock(project_id, memory_ids)
    written = 0
    for _ in range(_ROUNDS):
        if not waiting:
            break
        before = _write(runtime, tx, collections, project_id, waiting)
        written += len(waiting)
        after = tx.projections.versions(project_id, waiting)
        shown = [id_ for id_ in waiting if before.get(id_) == after.get(id_)]
        if tx.projections.done(project_id, shown):
            runtime.queue.wake("webhooks")
        waiting = [id_ for id_ in waiting if before.get(id_) != after.get(id_)]
    if written:
        runtime.telemetry.emit("projection", outcome="done", points=written, ms=(time.monotonic() - started) * 1000)


def _write(
    runtime: Runtime, tx: Transaction, collections: Collections, project_id: UUID, ids: Sequence[UUID]
) -> dict[UUID, Version]:
    """Upsert what is there, delete what is not; returns the versions that were read."""
    rows, around = read_points(tx, project_id, ids)
    put_points(runtime.index, collections.written, ids, rows, around)
    if collections.staged is not None:
        ready = staged(tx, project_id, rows)
        # What waits for its vector is the rebuild's, which may be writing it at this moment: not to be deleted.
        waits = {memory.id for memory in rows if _shown(memory)} - {memory.id for memory in ready}
        put_points(runtime.index, [collections.staged], [id_ for id_ in ids if id_ not in waits], ready, around)
    return {memory.id: Version(memory.version, memory.updated_at, memory.state) for memory in rows}


def read_points(tx: Transaction, project_id: UUID, ids: Sequence[UUID]) -> tuple[list[Memory], list[Memory]]:
    """The rows of these memories, and those around them in their conversations."""
    rows = tx.memories.by_ids(project_id, ids)
    present = [memory for memory in rows if _shown(memory)]
    return rows, tx.memories.neighbours(project_id, present, CONTEXT_REACH) if present else []


def put_points(
    index: VectorIndex, collections: Sequence[str], ids: Sequence[UUID], rows: Sequence[Memory], around: list[Memory]
) -> None:
    """Make these collections say of `ids` what `rows` says. Raises IndexUnavailable."""
    present = [memory for memory in rows if _shown(memory)]
    if present:
        index.upsert(collections, build_points(present, around))
    gone = set(ids) - {memory.id for memory in present}
    if gone:
        index.delete(collections, sorted(gone))


def staged(tx: Transaction, project_id: UUID, rows: Sequence[Memory]) -> list[Memory]:
    """The memories with the vectors that were made for the collection being built; those without are left out."""
    vectors = tx.rebuild.staged(project_id, [memory.id for memory in rows])
    return [replace(memory, embedding=vectors[memory.id]) for memory in rows if memory.id in vectors]


def _shown(memory: Memory) -> bool:
    return memory.state is not MemoryState.DELETED and memory.embedding is not None


def affected(tx: Transaction, project_id: UUID, memories: Sequence[Memory]) -> list[UUID]:
    """The memories whose points change with these: themselves, and those whose context they are part of."""
    around = tx.memories.neighbours(project_id, memories, CONTEXT_REACH) if memories else []
    return list({memory.id for memory in memories} | {memory.id for memory in around})


def sweep_projections(runtime: Runtime, *, older_than: float, limit: int = 500) -> int:
    """Apply what inline projection missed; returns how many rows were looked at. Raises IndexUnavailable."""
    with runtime.database.operations() as tx:
        pending = tx.projections.pending(older_than, limit)
    by_project: dict[UUID, list[UUID]] = {}
    for project_id, memory_id in pending:
        by_project.setdefault(project_id, []).append(memory_id)
    for project_id, ids in by_project.items():
        project(runtime, project_id, ids)
    return len(pending)


def project_now(runtime: Runtime, project_id: UUID, memory_ids: Sequence[UUID]) -> bool:
    """Inline projection right after a change's commit; False: it could not be done now, and the sweep will do it.

    The change is committed: whatever is the matter here must not tell its caller otherwise.
    """
    try:
        project(runtime, project_id, memory_ids)
    except (IndexUnavailable, TransactionConflict, DatabaseUnavailable) as error:
        runtime.telemetry.emit("projection", outcome="deferred", points=len(memory_ids), detail=str(error))
        return False
    return True
