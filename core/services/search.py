"""Search: analyse → embed → recall → check → fuse → (rerank). No queue, and no writes but repairs of the index."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from core.domain.errors import MemlaneError
from core.domain.filter_scope import scoped
from core.domain.filters import Node
from core.domain.memory import Memory
from core.domain.narrowing import Narrowing, select
from core.domain.ranking import Ranked, Scale, fuse, saturated
from core.domain.ranking_params import DEFAULT, RankingParams
from core.ports.index import IndexUnavailable, SparseVector
from core.ports.models import Matrix, ModelError
from core.services.candidates import candidates_of
from core.services.listing import strict_scoping
from core.services.recall import Ask, Found, recall
from core.services.runtime import Runtime
from core.text.query import QueryTerms, analyse


@dataclass(frozen=True)
class SearchQuery:
    """One search. `filters` as the caller sent them; `now` aware and in UTC.

    `threshold` 0 switches threshold and abstention off. `reference_date` is the now of "last week" in the
    query, nothing else. `strict` is the server's scope rule, which the project's setting overrides.
    """

    project_id: UUID
    text: str
    filters: object
    now: datetime
    narrowing: Narrowing = field(default_factory=Narrowing)
    top_k: int = 20
    threshold: float = 0.1
    rerank: bool = False
    keyword_search: bool = False
    reference_date: datetime | None = None
    strict: bool = True


@dataclass(frozen=True)
class Hit:
    """`score` in (0, 1], the sum of `breakdown` {semantic, bm25, entity, temporal}."""

    memory: Memory
    score: float
    breakdown: Mapping[str, float]


@dataclass(frozen=True)
class SearchResult:
    """Best first. `notice` says why there is less than one might expect; `stages` are milliseconds."""

    hits: Sequence[Hit]
    notice: str | None = None
    dropped: int = 0
    stages: Mapping[str, float] = field(default_factory=dict)


def search(runtime: Runtime, query: SearchQuery, params: RankingParams = DEFAULT) -> SearchResult:
    """At most `top_k` memories, scores descending.

    Raises MemlaneError: what `narrowing.select` raises, `embedder_unavailable`, `index_unavailable`: an outage is
    never an empty list. Raises DatabaseUnavailable.
    """
    run = _Run(runtime, query, params)
    try:
        result = run.result()
    except IndexUnavailable as error:
        run.report("index_unavailable")
        raise MemlaneError("index_unavailable", retry_after=2) from error
    except ModelError as error:
        run.report("embedder_unavailable")
        raise MemlaneError("embedder_unavailable", retry_after=max(1, round(error.retry_after or 2))) from error
    run.report("done", hits=len(result.hits), dropped=result.dropped)
    return result


class _Run:
    """One search under way, and where its time went."""

    def __init__(self, runtime: Runtime, query: SearchQuery, params: RankingParams) -> None:
        self._runtime = runtime
        self._query = query
        self._params = params
        self._stages: dict[str, float] = {}
        self._started = self._lap = time.perf_counter()

    def result(self) -> SearchResult:
        query = self._query
        where = self._where()
        terms = analyse(query.text, query.reference_date or query.now)
        self._note("analyse")
        vector = None if query.keyword_search else self._runtime.models.embedder.embed_query(query.text)
        self._note("embed")
        found = recall(self._runtime, self._ask(where, terms, vector), query.top_k, self._params)
        self._note("recall")
        ranked = self._keyword(found) if query.keyword_search else self._fused(found, terms)
        kept = [hit for hit in ranked if hit.score >= query.threshold][: query.top_k]
        self._note("fuse")
        hits = [Hit(found.memories[hit.id], hit.score, hit.breakdown) for hit in kept]
        return SearchResult(hits, dropped=found.dropped, stages=dict(self._stages))

    def report(self, outcome: str, **fields: Any) -> None:
        self._runtime.telemetry.emit(
            "search",
            project_id=str(self._query.project_id),
            outcome=outcome,
            ms=(time.perf_counter() - self._started) * 1000,
            stages=dict(self._stages),
            **fields,
        )

    def _note(self, stage: str) -> None:
        now = time.perf_counter()
        self._stages[stage] = round((now - self._lap) * 1000, 3)
        self._lap = now

    def _where(self) -> Node:
        query = self._query
        selected = select(query.filters, query.narrowing, query.now.date())
        with self._runtime.database.transaction(query.project_id) as tx:
            return scoped(selected, strict_scoping(tx, query.project_id, query.strict))

    def _ask(self, where: Node, terms: QueryTerms, vector: Matrix | None) -> Ask:
        words, names = SparseVector(*terms.terms), SparseVector(*terms.names)
        if vector is None:
            return Ask(self._query.project_id, where, bm25=words)
        return Ask(self._query.project_id, where, dense=vector, bm25=words, bm25_ctx=words, entity=names)

    def _fused(self, found: Found, terms: QueryTerms) -> list[Ranked]:
        low, high = self._runtime.models.embedder.calibration
        scale = Scale(low, high, found.cosine_floor)
        return fuse(candidates_of(found, terms), terms.time, scale, self._params)

    def _keyword(self, found: Found) -> list[Ranked]:
        """By BM25 alone."""
        half = self._params.bm25_half
        ranked = [
            Ranked.of(id_, {"semantic": 0.0, "bm25": saturated(score, half), "entity": 0.0, "temporal": 0.0})
            for id_, score in found.scores.get("bm25", {}).items()
            if id_ in found.memories
        ]
        return sorted(ranked, key=lambda hit: (-hit.score, hit.id))
