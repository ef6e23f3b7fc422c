"""Search: analyse → embed, with words recalled meanwhile → recall → check → fuse → (decay) → (rerank). No queue; the
only writes are repairs of the index, and the touches of projects with decay."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from core.domain.abstention import OFF_TOPIC
from core.domain.errors import MemlaneError
from core.domain.filter_scope import scoped
from core.domain.filters import Node
from core.domain.hit import Hit
from core.domain.narrowing import Narrowing, select
from core.domain.ranking import Ranked, Scale, fuse
from core.domain.ranking_params import DEFAULT, RankingParams
from core.ports.index import IndexUnavailable, SparseVector
from core.ports.models import Matrix, ModelError
from core.services.abstain import Question, least_score, lifted
from core.services.as_of import select_then, valid_then, worded_then
from core.services.candidates import by_keywords, candidates_of, read_ahead, repeats_last
from core.services.fade import faded, touch
from core.services.recall import Ask, Found, recall
from core.services.rerank import reranked
from core.services.runtime import Runtime
from core.text.query import QueryTerms, analyse


@dataclass(frozen=True)
class SearchQuery:
    """One search. `filters` as the caller sent them; `now` aware and in UTC.

    `threshold` 0 switches threshold and abstention off. `rerank` reorders the hits by the configured reranker.
    `reference_date` is the now of "last week" in the query, nothing else. `as_of` (aware) asks for what held at an
    earlier time, in the words of then. `strict` is the server's scope rule,
    which the project's setting overrides.
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
    as_of: datetime | None = None
    strict: bool = True


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
        run.report(error.code)
        raise MemlaneError(error.code, retry_after=2) from error
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
        self._decay = False
        self._embedding = 0.0  # seconds
        self._stages: dict[str, float] = {}
        self._started = self._lap = time.perf_counter()

    def result(self) -> SearchResult:
        query = self._query
        where = self._where()
        terms = analyse(query.text, query.reference_date or query.now)
        self._note("analyse")
        vector = None if query.keyword_search else self._runtime.aside.submit(self._embedded)
        found = recall(self._runtime, self._ask(where, terms), query.top_k, self._params, vector, read_ahead)
        if query.as_of is not None:
            found = valid_then(found, query.as_of, show_expired=query.narrowing.show_expired)
        self._note("recall", beside=self._embedding)
        ranked, notice = self._ranked(found, terms)
        self._note("fuse")
        if self._decay:
            ranked = faded(self._runtime.database, query.project_id, ranked, found, query.now)
            touch(self._runtime, query.project_id, [hit.id for hit in ranked[: query.top_k]], query.now)
            self._note("decay")
        ranked = ranked[: query.top_k]
        hits = [Hit(found.memories[hit.id].memory(), hit.score, hit.breakdown) for hit in ranked]
        if query.as_of is not None:
            hits = worded_then(self._runtime.database, query.project_id, hits, query.as_of)
        if query.rerank and hits:
            hits, notice = reranked(self._runtime, query.text, hits)
            self._note("rerank")
        return SearchResult(hits, notice, found.dropped, dict(self._stages))

    def report(self, outcome: str, **fields: Any) -> None:
        self._runtime.telemetry.emit(
            "search",
            project_id=str(self._query.project_id),
            outcome=outcome,
            ms=(time.perf_counter() - self._started) * 1000,
            stages=dict(self._stages),
            **fields,
        )

    def _embedded(self) -> Matrix:
        """In a thread beside; where nobody asks for it any more, its end goes unheard."""
        started = time.perf_counter()
        vector = self._runtime.models.embedder.embed_query(self._query.text)
        self._embedding = time.perf_counter() - started
        return vector

    def _note(self, stage: str, beside: float = 0.0) -> None:
        """`beside`: seconds of the lap that an embedding took, which is a stage of its own."""
        now = time.perf_counter()
        if beside:
            self._stages["embed"] = round(beside * 1000, 3)
        self._stages[stage] = round((now - self._lap - beside) * 1000, 3)
        self._lap = now

    def _where(self) -> Node:
        query = self._query
        today = query.now.date()
        if query.as_of is None:
            selected = select(query.filters, query.narrowing, today)
        else:
            selected = select_then(query.filters, query.narrowing, query.as_of, today)
        settings = self._runtime.projects.settings(self._runtime.database, query.project_id)
        own = settings.get("strict_scoping")
        self._decay = bool(settings.get("decay"))
        return scoped(selected, query.strict if own is None else bool(own))

    def _ask(self, where: Node, terms: QueryTerms) -> Ask:
        words, names = SparseVector(*terms.terms), SparseVector(*terms.names)
        if self._query.keyword_search:
            return Ask(self._query.project_id, where, bm25=words)
        return Ask(self._query.project_id, where, bm25=words, bm25_ctx=words, entity=names)

    def _ranked(self, found: Found, terms: QueryTerms) -> tuple[list[Ranked], str | None]:
        """What is above the threshold, `_pool` at most, and why there is nothing where that needs a word."""
        query = self._query
        if query.keyword_search:
            ranked = by_keywords(found, self._params)
        else:
            scale = Scale(*self._runtime.models.embedder.calibration, found.cosine_floor)
            ranked = fuse(candidates_of(found, terms), terms.asked, scale, self._params, self._pool())
            if ranked:
                question = Question(query.project_id, query.text)
                least = least_score(self._runtime, question, found, ranked[0], self._params)
                if least is None and query.threshold > 0:
                    return [], OFF_TOPIC
                ranked = lifted(ranked, least or 0.0)
            ranked = repeats_last(ranked, found.memories, self._params, self._pool() if self._decay else query.top_k)
        return [hit for hit in ranked if hit.score >= query.threshold][: self._pool()], None

    def _pool(self) -> int:
        """Hits that are looked at for repeats and decay before `top_k` cuts."""
        return max(self._params.pool_least, self._params.pool_factor * self._query.top_k)
