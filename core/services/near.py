"""The active memories of a request's scopes: which are near to a text, and which text is there already.

Few are read whole, without their texts, and compared here; of many the index is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

import numpy as np

from core.domain.memory import Memory, MemoryState
from core.domain.scope import Scope
from core.domain.work import EventWork
from core.ports.models import Matrix
from core.ports.stores.ingestion import ScopeRow
from core.ports.stores.memories import KnownText
from core.services.runtime import Runtime

MOST_WHOLE = 240  # memories; beyond, the index is the cheaper one to ask


def scopes_of(scope: Scope) -> list[Scope]:
    """The scopes that inferred memories of a request may be stored under: two at most."""
    return list({scope.attributed(side).key: scope.attributed(side) for side in ("user", "assistant")}.values())


@dataclass(frozen=True)
class Whole:
    """All active memories of the scopes, as they were when Context looked."""

    rows: Sequence[ScopeRow]

    @property
    def watermark(self) -> int:
        """The highest `stored_seq`, 0 when there is none: what is stored later is beyond it."""
        return max((row.stored_seq for row in self.rows), default=0)

    @cached_property
    def texts(self) -> dict[tuple[str, str], KnownText]:
        """By (scope_key, hash)."""
        return {(row.scope_key, row.hash): KnownText(row.id, row.expiration_date) for row in self.rows}

    def nearest(
        self, runtime: Runtime, work: EventWork, vectors: Matrix, limit: int, least: float = -1.0
    ) -> list[list[Memory]]:
        """For each vector, up to `limit` memories of at least this cosine, nearest first, their rows read anew."""
        today, size = runtime.clock.now().date(), 4 * vectors.shape[1]
        rows = [row for row in self.rows if not _gone(row.expiration_date, today) and _sized(row.embedding, size)]
        if not rows:
            return [[] for _ in vectors]
        stored = np.frombuffer(b"".join(row.embedding or b"" for row in rows), dtype="<f4").reshape(len(rows), -1)
        cosines = vectors @ stored.T
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :limit]
        named = [
            [rows[n].id for n in line if cosine[n] >= least] for line, cosine in zip(order, cosines, strict=True)
        ]
        wanted = sorted({id_ for ids in named for id_ in ids})
        if not wanted:
            return [[] for _ in vectors]
        with runtime.database.statements(work.project_id) as tx:
            pool = {memory.id: memory for memory in tx.memories.by_ids(work.project_id, wanted)}
        return [[pool[id_] for id_ in ids if id_ in pool and _usable(pool[id_], today, size)] for ids in named]


@dataclass(frozen=True)
class Indexed:
    """More memories than are read whole. `waiting`: those that the index does not hold yet."""

    watermark: int
    waiting: Sequence[Memory]

    @property
    def texts(self) -> None:
        """Not known here: PostgreSQL has to be asked."""

    def nearest(
        self, runtime: Runtime, work: EventWork, vectors: Matrix, limit: int, least: float = -1.0
    ) -> list[list[Memory]]:
        """As `Whole.nearest`. Raises IndexUnavailable."""
        keys = [scope.key for scope in scopes_of(work.scope)]
        hits = runtime.index.nearest(runtime.collections.current().active, work.project_id, keys, vectors, limit)
        wanted = {hit.id for row in hits for hit in row}
        with runtime.database.statements(work.project_id) as tx:
            rows = tx.memories.by_ids(work.project_id, sorted(wanted)) if wanted else []
        today, size = runtime.clock.now().date(), 4 * vectors.shape[1]
        found = [m for m in [*rows, *self.waiting] if m.scope.key in keys and _usable(m, today, size)]
        pool = list({m.id: m for m in found}.values())
        return [_ranked(vector, pool, limit, least) for vector in vectors]


Surroundings = Whole | Indexed


def survey(runtime: Runtime, work: EventWork) -> Surroundings:
    """What there is around an event. Raises DatabaseUnavailable."""
    keys = [scope.key for scope in scopes_of(work.scope)]
    with runtime.database.statements(work.project_id) as tx:
        rows = tx.ingestion.whole(work.project_id, keys, MOST_WHOLE)
        if rows is not None:
            return Whole(rows)
        # The mark first: what is stored in between is seen twice, not missed.
        watermark = tx.memories.watermark(work.project_id, keys)
        return Indexed(watermark, tx.memories.unprojected(work.project_id, keys))


def _gone(expires: date | None, today: date) -> bool:
    """An expired memory is as good as gone, though it may still be called active."""
    return expires is not None and expires < today


def _sized(embedding: bytes | None, size: int) -> bool:
    """Of the same space: a rebuild with another embedder may be under way."""
    return embedding is not None and len(embedding) == size


def _usable(memory: Memory, today: date, size: int) -> bool:
    return (
        memory.state is MemoryState.ACTIVE
        and _sized(memory.embedding, size)
        and not _gone(memory.expiration_date, today)
    )


def _ranked(vector: Matrix, memories: list[Memory], limit: int, least: float) -> list[Memory]:
    if not memories:
        return []
    stored = np.stack([np.frombuffer(memory.embedding or b"", dtype="<f4") for memory in memories])
    cosines = stored @ vector
    return [memories[n] for n in np.argsort(-cosines, kind="stable")[:limit] if cosines[n] >= least]
