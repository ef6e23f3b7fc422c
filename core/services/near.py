"""The active memories of a request's scopes: which are near to a text, and which text is there already.

Few are read whole, without their texts, and compared here; of many the index is asked. A search, which reads small
scopes whole too (whole_scope.py), looks at one scope, needs texts and payloads, and goes by filters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

import numpy as np

from core.domain.memory import Memory, MemoryState, expired
from core.domain.scope import Scope
from core.domain.work import EventWork
from core.ports.database import Transaction
from core.ports.models import Matrix
from core.ports.stores.ingestion import ScopeRow
from core.ports.stores.memories import KnownText
from core.services.runtime import Runtime

_FLOAT_BYTES = 4
MOST_WHOLE = 240  # memories; beyond, the index is the cheaper one to ask


def scopes_of(scope: Scope) -> list[Scope]:
    """The scopes that inferred memories of a request may be stored under: two at most."""
    return list({scope.attributed(side).key: scope.attributed(side) for side in ("user", "assistant")}.values())


@dataclass(frozen=True)
class ReadWhole:
    """All active memories of the scopes, as they were when Context looked."""

    runtime: Runtime
    work: EventWork
    rows: Sequence[ScopeRow]

    @cached_property
    def marks(self) -> dict[str, int]:
        """By scope key the highest `stored_seq`, beyond which is what comes later. Empty scopes are left out."""
        found: dict[str, int] = {}
        for row in self.rows:
            found[row.scope_key] = max(row.stored_seq, found.get(row.scope_key, 0))
        return found

    @cached_property
    def texts(self) -> dict[tuple[str, str], KnownText]:
        """By (scope_key, hash)."""
        return {(row.scope_key, row.hash): KnownText(row.id, row.expiration_date) for row in self.rows}

    def nearest(
        self, vectors: Matrix, limit: int, least: float = -1.0, known: Sequence[Memory] = ()
    ) -> list[list[Memory]]:
        """For each vector up to `limit` memories of at least the cosine `least`, nearest first; those that are not
        `known` are read.

        `vectors`: float32 of shape (texts, dims), of length 1 as all that is stored. Raises DatabaseUnavailable.
        """
        today, size = self.runtime.clock.now().date(), _FLOAT_BYTES * vectors.shape[1]
        rows = [row for row in self.rows if not expired(row.expiration_date, today) and _sized(row.embedding, size)]
        order = _order(vectors, [row.embedding for row in rows], limit, least)
        named = [[rows[n].id for n in line] for line in order]
        unknown = {id_ for line in named for id_ in line} - {memory.id for memory in known}
        pool = _usable(self.runtime, self.work, unknown, known, vectors)
        return [[pool[id_] for id_ in line if id_ in pool] for line in named]


@dataclass(frozen=True)
class AskedOfIndex:
    """More memories than are read whole. `waiting`: the newest of those that the index does not hold yet, 500 at
    most."""

    runtime: Runtime
    work: EventWork
    marks: Mapping[str, int]
    waiting: Sequence[Memory]

    @property
    def texts(self) -> None:
        """Not known here: PostgreSQL has to be asked."""

    def nearest(
        self, vectors: Matrix, limit: int, least: float = -1.0, known: Sequence[Memory] = ()
    ) -> list[list[Memory]]:
        """As `ReadWhole.nearest`. Raises IndexUnavailable too."""
        active = self.runtime.collections.current().active
        hits = self.runtime.index.nearest(active, self.work.project_id, _keys(self.work), vectors, limit)
        unknown = {hit.id for row in hits for hit in row} - {memory.id for memory in known}
        pool = list(_usable(self.runtime, self.work, unknown, [*self.waiting, *known], vectors).values())
        order = _order(vectors, [memory.embedding for memory in pool], limit, least)
        return [[pool[n] for n in line] for line in order]


Surroundings = ReadWhole | AskedOfIndex


def survey(runtime: Runtime, tx: Transaction, work: EventWork) -> Surroundings:
    """What there is around an event."""
    keys = _keys(work)
    rows = tx.ingestion.whole(work.project_id, keys, MOST_WHOLE)
    if rows is not None:
        return ReadWhole(runtime, work, rows)
    # The marks first: what is stored in between is seen twice, not missed.
    marks = tx.memories.marks(work.project_id, keys)
    return AskedOfIndex(runtime, work, marks, tx.memories.unprojected(work.project_id, keys))


def _keys(work: EventWork) -> list[str]:
    return [scope.key for scope in scopes_of(work.scope)]


def _order(vectors: Matrix, embeddings: Sequence[bytes | None], limit: int, least: float) -> list[list[int]]:
    """For each vector the places of the nearest embeddings, nearest first, equal ones in the order given."""
    if not embeddings:
        return [[] for _ in vectors]
    stored = np.frombuffer(b"".join(one or b"" for one in embeddings), dtype="<f4").reshape(len(embeddings), -1)
    cosines = vectors @ stored.T
    places = np.argsort(-cosines, axis=1, kind="stable")[:, :limit]
    return [[int(n) for n in line if near[n] >= least] for line, near in zip(places, cosines, strict=True)]


def _usable(
    runtime: Runtime, work: EventWork, ids: AbstractSet[UUID], others: Sequence[Memory], vectors: Matrix
) -> dict[UUID, Memory]:
    """Those of `ids`, as they are now, and the `others`: if active, not expired, and of the vectors' space."""
    keys, today, size = _keys(work), runtime.clock.now().date(), _FLOAT_BYTES * vectors.shape[1]
    found: list[Memory] = []
    if ids:
        with runtime.database.statements(work.project_id) as tx:
            found = tx.memories.by_ids(work.project_id, sorted(ids))
    return {
        memory.id: memory
        for memory in (*found, *others)
        if memory.state is MemoryState.ACTIVE
        and memory.scope.key in keys
        and _sized(memory.embedding, size)
        and not expired(memory.expiration_date, today)
    }


def _sized(embedding: bytes | None, size: int) -> bool:
    """Of so many bytes: while a rebuild with another embedder is under way, some may be of another space."""
    return embedding is not None and len(embedding) == size
