"""Recall: the candidates of a search, each as the truth has it. Words go ahead while the query is embedded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from uuid import UUID

from core.domain.filters import Node
from core.domain.payload import unindexed
from core.domain.ranking_params import RankingParams
from core.domain.recalled import Recalled
from core.ports.index import IndexLists, IndexQuery, SparseVector
from core.ports.models import Matrix
from core.services.resolve_leaves import resolve_leaves
from core.services.runtime import Runtime
from core.services.side_notes import side_note
from core.services.whole_scope import WholeScope, read_whole

_NONE_KNOWN: Mapping[UUID, Recalled] = {}
_AT_ONCE_SECONDS = 0.002  # a vector that the embedder remembers is there by then


@dataclass(frozen=True)
class Ask:
    """One recall: which rows (`where`, the scope rule applied), and the vectors to ask the index with."""

    project_id: UUID
    where: Node
    dense: Matrix | None = None
    bm25: SparseVector | None = None
    bm25_ctx: SparseVector | None = None
    entity: SparseVector | None = None
    ids: Mapping[Node, Sequence[UUID]] = field(default_factory=dict)  # conditions that the index cannot answer


@dataclass
class Found:
    """`scores`: list → memory → raw score. `memories`: the candidates that the truth confirms, among all `seen`.

    `cosine_floor` is the lowest cosine of a dense list that was cut off at its limit: no memory outside has more.
    """

    scores: Mapping[str, Mapping[UUID, float]] = field(default_factory=dict)
    memories: Mapping[UUID, Recalled] = field(default_factory=dict)
    seen: frozenset[UUID] = frozenset()
    cosine_floor: float | None = None
    dropped: int = 0

    def joined(self, dense: Found) -> Found:
        """Both together, where `dense` alone has a floor, and counts as dropped only what is not seen here."""
        return Found(
            {**dense.scores, **self.scores},
            {**self.memories, **dense.memories},
            self.seen | dense.seen,
            dense.cosine_floor,
            self.dropped + dense.dropped,
        )


Meanwhile = Callable[[Found, Callable[[], bool]], None]  # what was found by words, and whether it is time to stop


def recall(
    runtime: Runtime,
    ask: Ask,
    wanted: int,
    params: RankingParams,
    vector: Future[Matrix] | None = None,
    meanwhile: Meanwhile = lambda found, enough: None,
) -> Found:
    """At least `wanted` confirmed candidates, where there are so many; with the dense list of `vector`, where given.

    The dense list of a small scope is made here, from the vectors that PostgreSQL holds. For a larger one the index
    is asked: a vector that is there at once is asked with in the same request as words and names, which otherwise
    go ahead. What is left of the time until the vector is there is `meanwhile`'s.
    Hits that the truth does not confirm are stale points: they are left out, and queued for repair. When they leave
    too few, the index is asked once more for longer lists.
    Raises IndexUnavailable, DatabaseUnavailable, and what the vector raises.
    """
    limit = min(params.recall_most, max(params.recall_least, params.recall_factor * wanted))
    ask = replace(ask, ids=_resolved(runtime, ask))
    found = _once(runtime, ask, limit) if vector is None else _beside(runtime, ask, limit, params, vector, meanwhile)
    if found.dropped and len(found.memories) < wanted and limit < params.recall_most:
        longer = min(params.recall_most, limit + found.dropped + params.recall_least)
        if vector is not None:
            ask = replace(ask, dense=vector.result())
        found = _once(runtime, ask, longer)
    return found


def _beside(
    runtime: Runtime,
    ask: Ask,
    limit: int,
    params: RankingParams,
    vector: Future[Matrix],
    meanwhile: Meanwhile,
) -> Found:
    """All lists, with as much as can be done before the vector is there."""
    most = min(params.whole_most, params.whole_factor * limit)
    whole = read_whole(runtime, ask.project_id, ask.where, most)
    if whole is None and wait([vector], _AT_ONCE_SECONDS).done:
        return _once(runtime, replace(ask, dense=vector.result()), limit)
    known = whole.memories if whole else {}
    words = _checked(runtime, ask, _query(runtime, ask, limit), limit, known)
    meanwhile(words, vector.done)
    asked = vector.result()
    if whole is not None and words.memories.keys() <= known.keys():
        return words.joined(_listed(whole, whole.nearest(asked, limit), limit))
    meant = Ask(ask.project_id, ask.where, dense=asked, ids=ask.ids)
    return words.joined(_checked(runtime, meant, _query(runtime, meant, limit), limit, known, words.seen))


def _listed(whole: WholeScope, nearest: Mapping[UUID, float], limit: int) -> Found:
    return Found(
        scores={"dense": nearest},
        memories={id_: whole.memories[id_] for id_ in nearest},
        seen=frozenset(nearest),
        cosine_floor=min(nearest.values()) if len(nearest) >= limit else None,
    )


def _once(runtime: Runtime, ask: Ask, limit: int) -> Found:
    return _checked(runtime, ask, _query(runtime, ask, limit), limit)


def _checked(
    runtime: Runtime,
    ask: Ask,
    lists: IndexLists,
    limit: int,
    known: Mapping[UUID, Recalled] = _NONE_KNOWN,
    already: AbstractSet[UUID] = frozenset(),
) -> Found:
    """What the lists hold; the truth is asked about all but the `known`, and but what was asked about `already`."""
    seen = dict.fromkeys(hit.id for hits in lists.values() for hit in hits)
    ids = [id_ for id_ in seen if id_ not in known and id_ not in already]
    dense = lists.get("dense", [])
    confirmed = _confirmed(runtime, ask, ids) if ids else {}
    return Found(
        scores={name: {hit.id: hit.score for hit in hits} for name, hits in lists.items()},
        memories={id_: known[id_] for id_ in seen if id_ in known} | confirmed,
        seen=frozenset(seen),
        cosine_floor=min(hit.score for hit in dense) if len(dense) >= limit else None,
        dropped=len(ids) - len(confirmed),
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
        ids=ask.ids,
    )
    return runtime.index.query(runtime.collections.current().active, query)


def _resolved(runtime: Runtime, ask: Ask) -> Mapping[Node, Sequence[UUID]]:
    if not unindexed(ask.where):
        return {}
    with runtime.database.statements(ask.project_id) as tx:
        return resolve_leaves(tx, ask.project_id, ask.where)


def _confirmed(runtime: Runtime, ask: Ask, ids: Sequence[UUID]) -> dict[UUID, Recalled]:
    with runtime.database.statements(ask.project_id) as tx:
        memories: list[Recalled] = tx.search_reads.still_there(ask.project_id, ask.where, ids)
        confirmed = {memory.id: memory for memory in memories}
        stale = [id_ for id_ in ids if id_ not in confirmed]
    if stale:
        _request_repair(runtime, ask.project_id, stale)
    return confirmed


def _request_repair(runtime: Runtime, project_id: UUID, stale: Sequence[UUID]) -> None:
    """Where this fails, the next search that meets these points asks again."""
    with side_note(runtime.telemetry, "repair"), runtime.database.transaction(project_id) as tx:
        tx.projections.request(project_id, stale)
