"""Reindex: the index built anew from PostgreSQL in a collection of its own, while writes and searches go on.

    begin → copy every memory, in order of id → (re-embedding: once more what changed) → switch → drop the old one

From `begin` on every projector writes the new collection too (`services/collections.py`), so that only what was
there before has to be copied. Progress stands in `index_collections`: a run that was killed is taken up where it
stopped, by the next one. With an embedder, new vectors are made beside the old ones, in `staged_embeddings`, and
become the memories' own in the transaction that switches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TypeVar
from uuid import UUID

import numpy as np

from core.domain.ids import new_id
from core.domain.memory import Memory
from core.ports.database import Database, UniqueViolation
from core.ports.index import IndexUnavailable, VectorIndex
from core.ports.models import Embedder, ModelError
from core.ports.stores.collections import IndexCollection
from core.services.collections import FRESH_SECONDS
from core.services.crash_points import CrashPoints
from core.services.embed import embed_all
from core.services.points import embedding_text
from core.services.project import put_points, read_points, staged

T = TypeVar("T")
BATCH = 128
ALONE = 0x52454958  # "REIX"
GRACE_SECONDS = FRESH_SECONDS + 5.0  # searches that began before the switch have ended by then
FEW = 32  # so many texts are embedded while everybody waits for the switch
_ROUNDS = 8
_PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)


class ReindexRefused(Exception):
    """It cannot be done, or not now; the text says why and what to do."""


@dataclass(frozen=True)
class Progress:
    """`phase`: copy | catch up | switch | drop; `done` of `total` memories."""

    phase: str
    done: int
    total: int


@dataclass(frozen=True)
class Rebuild:
    """What a rebuild works with; `embedder` makes it a re-embedding."""

    database: Database
    index: VectorIndex
    prefix: str
    embedder: Embedder | None = None
    tell: Callable[[Progress], None] = lambda progress: None
    grace: float = GRACE_SECONDS
    batch: int = BATCH
    run: UUID = field(default_factory=new_id)
    crash: CrashPoints = field(default_factory=CrashPoints)

    @property
    def staged(self) -> bool:
        return self.embedder is not None


def reindex(rebuild: Rebuild) -> str:
    """Returns the name of the collection that is active now.

    Raises ReindexRefused, IndexUnavailable, ModelError, DatabaseUnavailable: what is done so far is kept, and the
    next run goes on from there.
    """
    with rebuild.database.alone(ALONE) as mine:
        if not mine:
            raise ReindexRefused("Another rebuild is under way; `memlane doctor --deep` shows how far it is.")
        _drop_retired(rebuild)
        row = _begin(rebuild)
        done = _copy_all(rebuild, row)
        _switch(rebuild, row.name, done)
        rebuild.crash.reach("reindex_switched")
        _drop_retired(rebuild)
    return row.name


def abandon(rebuild: Rebuild) -> bool:
    """Give up a rebuild that was stopped, and drop what it has built; False when there is none.

    Raises ReindexRefused while it runs, IndexUnavailable, DatabaseUnavailable.
    """
    with rebuild.database.alone(ALONE) as mine:
        if not mine:
            raise ReindexRefused("The rebuild is running; stop it first.")
        return _abandon(rebuild)


def _abandon(rebuild: Rebuild) -> bool:
    with rebuild.database.operations() as tx:
        building = tx.rebuild.hold_alone().get("building")
        tx.rebuild.discard("building")
        tx.rebuild.clear_staged()
    if building is not None:
        rebuild.index.drop(building.name)
    return building is not None


def _begin(rebuild: Rebuild) -> IndexCollection:
    """The row of the collection to build: that of a run which was stopped, or a new one."""
    with rebuild.database.operations() as tx:
        rows = tx.rebuild.hold_alone()
        active, building = rows.get("active"), rows.get("building")
        tx.rebuild.take(rebuild.run)
    if active is None:
        raise ReindexRefused("There is no index yet: it is made when the first worker or search starts.")
    wanted = (active.embedding_model, active.dims, False)
    if rebuild.embedder is not None:
        wanted = (rebuild.embedder.name, rebuild.embedder.dims, True)
    if building is not None and (building.embedding_model, building.dims, building.staged) == wanted:
        rebuild.index.ensure(building.name, building.dims)
        return building
    if building is not None:
        how = f"a re-embedding to {building.embedding_model}" if building.staged else "a rebuild without a new model"
        raise ReindexRefused(
            f"There is {how} that was stopped after {building.done} memories: go on with that one, or give it up "
            "with `memlane reindex --abort`."
        )
    name = f"{rebuild.prefix}_{rebuild.run.hex[:8]}{rebuild.run.hex[-6:]}"
    rebuild.index.ensure(name, wanted[1])
    try:
        with rebuild.database.operations() as tx:
            tx.rebuild.hold_alone()
            tx.rebuild.clear_staged()
            tx.rebuild.begin(name, *wanted[:2], staged=wanted[2], run=rebuild.run)
    except UniqueViolation as error:
        rebuild.index.drop(name)
        raise ReindexRefused("Another rebuild has just begun.") from error
    with rebuild.database.operations() as tx:
        return tx.ops.collections()["building"]


def _copy_all(rebuild: Rebuild, row: IndexCollection) -> int:
    """Every memory, in order of id; returns how many are done, by earlier runs too."""
    with rebuild.database.operations() as tx:
        total = tx.rebuild.total()
    position, done = row.position, row.done
    while True:
        rebuild.tell(Progress("copy", done, total))
        with rebuild.database.operations() as tx:
            batch = tx.rebuild.batch(position, rebuild.batch)
        if not batch:
            return done
        _copy(rebuild, row.name, batch)
        position, done = batch[-1][1], done + len(batch)
        with rebuild.database.operations() as tx:
            if not tx.rebuild.advance(rebuild.run, position, len(batch)):
                raise ReindexRefused("Another rebuild has taken over.")
        rebuild.crash.reach("reindex_copied")


def _copy(rebuild: Rebuild, name: str, batch: Sequence[tuple[UUID, UUID]]) -> None:
    """Write the points of (project, memory) pairs, with vectors made first where it is a re-embedding."""
    if rebuild.embedder is not None:
        with rebuild.database.operations() as tx:
            wanted = tx.rebuild.unstaged(len(batch), [memory_id for _, memory_id in batch])
        _stage(rebuild, wanted)
    for project_id, pairs in groupby(sorted(batch), key=lambda pair: pair[0]):
        _settle(rebuild, name, project_id, [memory_id for _, memory_id in pairs])


def _settle(rebuild: Rebuild, name: str, project_id: UUID, ids: list[UUID]) -> None:
    """Write what the rows say, and again until they say the same after the write as before it.

    A projector may have written a newer point in between; what is read afterwards shows that, also where the
    change was a neighbour's. Rows that never come to rest are left to the projector, which holds them.
    """
    seen = _read(rebuild, project_id, ids)
    for _ in range(_ROUNDS):
        _patiently(rebuild, partial(put_points, rebuild.index, [name], ids, seen[0], seen[1]))
        again = _read(rebuild, project_id, ids)
        if again[2] == seen[2]:
            return
        seen = again
    with rebuild.database.transaction(project_id) as tx:
        tx.projections.request(project_id, ids)


def _read(
    rebuild: Rebuild, project_id: UUID, ids: list[UUID]
) -> tuple[list[Memory], list[Memory], dict[UUID, Memory]]:
    """The rows, those around them, and both by id: what tells this reading from another."""
    with rebuild.database.transaction(project_id) as tx:
        rows, around = read_points(tx, project_id, ids)
        if rebuild.staged:
            rows = staged(tx, project_id, rows)
    return rows, around, {memory.id: memory for memory in [*around, *rows]}


def _stage(rebuild: Rebuild, memories: Sequence[Memory]) -> None:
    """Embed these memories with the new embedder. Raises ReindexRefused for a text that it refuses."""
    embedder = rebuild.embedder
    if embedder is None or not memories:
        return
    vectors = _patiently(rebuild, lambda: embed_all(embedder, [embedding_text(memory) for memory in memories]))
    refused = [str(m.id) for m, vector in zip(memories, vectors, strict=True) if isinstance(vector, ModelError)]
    if refused:
        raise ReindexRefused(f"{embedder.name} refuses the text of {', '.join(refused[:20])}: change or delete it.")
    rows = [
        {"id": memory.id, "hash": memory.hash, "embedding": np.asarray(vector, dtype="<f4").tobytes()}
        for memory, vector in zip(memories, vectors, strict=True)
    ]
    with rebuild.database.operations() as tx:
        tx.rebuild.stage(rows)


def _switch(rebuild: Rebuild, name: str, done: int) -> None:
    """From its end on, everybody reads the new collection, and its vectors are those of the memories."""
    while rebuild.staged and (late := _late(rebuild, rebuild.batch)):
        rebuild.tell(Progress("catch up", done, done + len(late)))
        _copy(rebuild, name, [(memory.project_id, memory.id) for memory in late])
        if len(late) <= FEW:
            break
    rebuild.tell(Progress("switch", done, done))
    while not _switched(rebuild, name):
        late = _late(rebuild, rebuild.batch)
        _copy(rebuild, name, [(memory.project_id, memory.id) for memory in late])


def _late(rebuild: Rebuild, limit: int) -> list[Memory]:
    """Memories added or changed since they were passed."""
    with rebuild.database.operations() as tx:
        return tx.rebuild.unstaged(limit)


def _switched(rebuild: Rebuild, name: str) -> bool:
    """The switch itself, with nobody writing; False when too much has come meanwhile to be done under the lock."""
    with rebuild.database.operations() as tx:
        rows = tx.rebuild.hold_alone()
        if rows.get("building") is None or rows["building"].run != rebuild.run:
            raise ReindexRefused("Another rebuild has taken over.")
        if rebuild.staged:
            late = tx.rebuild.unstaged(FEW + 1)
            if len(late) > FEW:
                return False
            _copy(rebuild, name, [(memory.project_id, memory.id) for memory in late])
        tx.rebuild.switch(staged=rebuild.staged)
        rebuild.crash.reach("reindex_switch")
    return True


def _drop_retired(rebuild: Rebuild) -> None:
    """Drop the collection that was replaced, once no search can read it any more."""
    with rebuild.database.operations() as tx:
        retiring = tx.ops.collections().get("retiring")
    if retiring is None:
        return
    rebuild.tell(Progress("drop", 0, 0))
    time.sleep(rebuild.grace)
    with rebuild.database.operations() as tx:
        rows = tx.rebuild.hold_alone()
        tx.rebuild.discard("retiring")
        if "building" not in rows:
            tx.rebuild.clear_staged()
    _patiently(rebuild, lambda: rebuild.index.drop(retiring.name))


def _patiently(rebuild: Rebuild, work: Callable[[], T]) -> T:
    """Outages of some seconds pass. Raises IndexUnavailable or ModelError in the end."""
    for pause in _PAUSES:
        try:
            return work()
        except (IndexUnavailable, ModelError) as error:
            if isinstance(error, ModelError) and error.about == "input":
                raise
            time.sleep(min(getattr(error, "retry_after", None) or pause, 60.0))
    return work()
