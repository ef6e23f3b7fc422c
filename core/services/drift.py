"""Drift: what the index says, compared with what the memories' rows call for, in both directions; and its repair.

The index is a projection, so nothing that is found wrong here is lost: each memory concerned is projected anew.
What changes while it is looked at is looked at again, and what still waits for its projection is not counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from uuid import UUID

import numpy as np

from core.domain.ids import parse_id
from core.ports.database import Database
from core.ports.index import IndexPoint, SparseVector, VectorIndex
from core.services.points import build_points
from core.services.project import read_points

BATCH = 256
_LOOKS = 3
_PAUSE = 0.5  # seconds between two looks at what seems wrong
_TOLERANCE = 1e-3  # the index keeps 32-bit numbers, and normalises dense vectors itself

Pair = tuple[UUID, UUID]  # (project, memory)
Tell = Callable[[str, int, int], None]  # phase, done, total


@dataclass
class Drift:
    """`missing`: rows without a point; `differing`: the point says something else; `extra`: points without a row.

    An extra point whose project cannot be read from it has None there. `left_over`: collections of ours that no
    row names.
    """

    collection: str
    rows: int = 0
    points: int = 0
    missing: list[Pair] = field(default_factory=list)
    differing: list[Pair] = field(default_factory=list)
    extra: list[tuple[UUID | None, UUID]] = field(default_factory=list)
    left_over: list[str] = field(default_factory=list)

    @property
    def found(self) -> bool:
        return bool(self.missing or self.differing or self.extra or self.left_over)


def find_drift(
    database: Database, index: VectorIndex, prefix: str, *, sample: int | None = None, tell: Tell | None = None
) -> Drift | None:
    """Compare all of it, or `sample` memories at random (then extra points are not looked for).

    None when there is no index yet. Raises IndexUnavailable, DatabaseUnavailable.
    """
    with database.operations() as tx:
        collections = tx.ops.collections()
        total = tx.rebuild.total()
    if "active" not in collections:
        return None
    drift = Drift(collections["active"].name, rows=total)
    ours = {row.name for row in collections.values()}
    drift.left_over = [name for name in index.names() if name.startswith(f"{prefix}_") and name not in ours]
    done = 0
    for batch in _all_rows(database) if sample is None else _sample(database, sample):
        _compare(database, index, drift, batch)
        done += len(batch)
        if tell is not None:
            tell("rows", done, total if sample is None else min(sample, total))
    if sample is None:
        _find_extra(database, index, drift, tell)
    return drift


def repair(database: Database, index: VectorIndex, drift: Drift) -> int:
    """Queue a projection for each memory concerned, and drop collections that are left over; how many memories.

    The workers' sweep applies them within seconds. Raises IndexUnavailable, DatabaseUnavailable.
    """
    wanted = [*drift.missing, *drift.differing, *((p, m) for p, m in drift.extra if p is not None)]
    for project_id, pairs in groupby(sorted(set(wanted)), key=lambda pair: pair[0]):
        with database.transaction(project_id) as tx:
            tx.projections.request(project_id, [memory_id for _, memory_id in pairs])
    index.delete([drift.collection], [memory_id for project_id, memory_id in drift.extra if project_id is None])
    for name in drift.left_over:
        index.drop(name)
    return len(set(wanted))


def _all_rows(database: Database) -> Iterator[list[Pair]]:
    position: UUID | None = None
    while True:
        with database.operations() as tx:
            batch = tx.rebuild.batch(position, BATCH)
        if not batch:
            return
        yield batch
        position = batch[-1][1]


def _sample(database: Database, size: int) -> Iterator[list[Pair]]:
    with database.operations() as tx:
        chosen = iter(tx.rebuild.sample(size))
    while batch := list(islice(chosen, BATCH)):
        yield batch


def _compare(database: Database, index: VectorIndex, drift: Drift, batch: Sequence[Pair]) -> None:
    suspects = set(batch)
    missing: set[Pair] = set()
    for look in range(_LOOKS):
        if look:
            time.sleep(_PAUSE)
        missing, differing = _look(database, index, drift.collection, sorted(suspects))
        suspects = missing | differing
        if not suspects:
            return
    drift.missing += sorted(missing)
    drift.differing += sorted(suspects - missing)


def _look(
    database: Database, index: VectorIndex, collection: str, batch: Iterable[Pair]
) -> tuple[set[Pair], set[Pair]]:
    """(missing, differing) among these at this moment."""
    missing: set[Pair] = set()
    differing: set[Pair] = set()
    for project_id, pairs in groupby(batch, key=lambda pair: pair[0]):
        ids = [memory_id for _, memory_id in pairs]
        points = index.fetch(collection, ids)
        with database.transaction(project_id) as tx:
            rows, around = read_points(tx, project_id, ids)
            late = tx.rebuild.late(ids)
        wanted = [row for row in rows if row.state != "deleted" and row.embedding is not None and row.id not in late]
        for point in build_points(wanted, around):
            if point.id not in points:
                missing.add((project_id, point.id))
            elif not _same(point, points[point.id]):
                differing.add((project_id, point.id))
    return missing, differing


def _find_extra(database: Database, index: VectorIndex, drift: Drift, tell: Tell | None) -> None:
    points = index.scroll(drift.collection)
    while page := dict(islice(points, BATCH)):
        drift.points += len(page)
        if tell is not None:
            tell("points", drift.points, max(drift.rows, drift.points))
        accounted = _accounted(database, list(page))
        extra = [id_ for id_ in page if id_ not in accounted]
        for _ in range(_LOOKS - 1):
            if extra:
                time.sleep(_PAUSE)
                there = index.fetch(drift.collection, extra)
                accounted = _accounted(database, extra)
                extra = [id_ for id_ in extra if id_ in there and id_ not in accounted]
        drift.extra += [(parse_id(str(page[id_].get("project"))), id_) for id_ in extra]


def _accounted(database: Database, ids: list[UUID]) -> set[UUID]:
    with database.operations() as tx:
        return tx.rebuild.known(ids) | tx.rebuild.late(ids)


def _same(wanted: IndexPoint, found: IndexPoint) -> bool:
    if dict(wanted.payload) != dict(found.payload) or len(wanted.dense) != len(found.dense):
        return False
    vector = np.asarray(wanted.dense, dtype=np.float32)
    length = float(np.linalg.norm(vector)) or 1.0
    if not np.allclose(vector / length, np.asarray(found.dense, dtype=np.float32), atol=_TOLERANCE):
        return False
    names = ("bm25", "bm25_ctx", "entity")
    return all(_same_words(getattr(wanted, name), getattr(found, name)) for name in names)


def _same_words(wanted: SparseVector | None, found: SparseVector | None) -> bool:
    one, other = _weights(wanted), _weights(found)
    return one.keys() == other.keys() and all(abs(one[word] - other[word]) <= _TOLERANCE for word in one)


def _weights(vector: SparseVector | None) -> dict[int, float]:
    return dict(zip(vector.indices, vector.values, strict=True)) if vector is not None else {}
