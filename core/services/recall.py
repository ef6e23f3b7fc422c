"""Recall: candidates from the index in one round trip, each checked against the truth in another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from core.domain.filters import Node
from core.domain.payload import unindexed
from core.domain.ranking_params import RankingParams
from core.domain.recalled import Recalled
from core.ports.index import IndexLists, IndexQuery, SparseVector
from core.ports.models import Matrix
from core.services.resolve_leaves import resolve_leaves
from core.services.runtime import Runtime


@dataclass(frozen=True)
class Ask:
    """One recall: which rows (`where`, the scope rule applied), and the vectors to ask the index with."""

    project_id: UUID
    where: Node
    dense: Matrix | None = None
    bm25: SparseVector | None = None
    bm25_ctx: SparseVector | None = None
    entity: SparseVector | None = None


@dataclass
class Found:
    """`scores`: list → memory → raw score. `memories`: the candidates that the truth confirms.

    `cosine_floor` is the lowest cosine of a dense list that was cut off at its limit: no memory outside has more.
    """

    scores: Mapping[str, Mapping[UUID, float]] = field(default_factory=dict)
    memories: Mapping[UUID, Recalled] = field(default_factory=dict)
    cosine_floor: float | None = None
    dropped: int = 0


def recall(runtime: Runtime, ask: Ask, wanted: int, params: RankingParams) -> Found:
    """At least `wanted` confirmed candidates, where there are so many.

    Hits that the truth does not confirm are stale points: they are left out, and queued for repair. When they
    leave too few, the index is asked once more for longer lists.
    Raises IndexUnavailable, DatabaseUnavailable.
    """
    limit = min(params.recall_most, max(params.recall_least, params.recall_factor * wanted))
    found = _once(runtime, ask, limit)
    if found.dropped and len(found.memories) < wanted and limit < params.recall_most:
        longer = min(params.recall_most, limit + found.dropped + params.recall_least)
        found = _once(runtime, ask, longer)
    return found


def _once(runtime: Runtime, ask: Ask, limit: int) -> Found:
    lists = _query(runtime, ask, limit)
    ids = list(dict.fromkeys(hit.id for hits in lists.values() for hit in hits))
    if not ids:
        return Found()
    memories = _confirmed(runtime, ask, ids)
    dense = lists.get("dense", [])
    return Found(
        scores={name: {hit.id: hit.score for hit in hits} for name, hits in lists.items()},
        memories=memories,
        cosine_floor=min(hit.score for hit in dense) if len(dense) >= limit else None,
        dropped=len(ids) - len(memories),
    )


def _query(runtime: Runtime, ask: Ask, limit: int) -> IndexLists:
    query = IndexQuery(
        project_id=ask.project_id,
        where=ask.where,
        limit=limit,
        dense=ask.dense,
        bm25=ask.bm25,
        bm25_ctx=ask.bm25_ctx,
        entity=ask.entity,
        ids=_resolved(runtime, ask),
    )
    return runtime.index.query(runtime.collections.current().active, query)


def _resolved(runtime: Runtime, ask: Ask) -> Mapping[Node, Sequence[UUID]]:
    if not unindexed(ask.where):
        return {}
    with runtime.database.transaction(ask.project_id) as tx:
        return resolve_leaves(tx, ask.project_id, ask.where)


def _confirmed(runtime: Runtime, ask: Ask, ids: Sequence[UUID]) -> dict[UUID, Recalled]:
    with runtime.database.transaction(ask.project_id) as tx:
        memories: list[Recalled] = tx.search_reads.still_there(ask.project_id, ask.where, ids)
        confirmed = {memory.id: memory for memory in memories}
        stale = [id_ for id_ in ids if id_ not in confirmed]
        tx.projections.request(ask.project_id, stale)
    return confirmed
