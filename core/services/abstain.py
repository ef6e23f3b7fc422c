"""Is anything stored about the query, and how sure is that? Asked of the best hits of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from core.domain.abstention import BestHit, Nearness, contrast, convincing, doubtful
from core.domain.ranking import Ranked, Scale
from core.domain.ranking_params import RankingParams
from core.domain.recalled import Recalled
from core.ports.models import Embedder, Matrix
from core.services.recall import Found
from core.services.runtime import Runtime
from core.text.lang.neutral import neutral_questions
from core.text.language import foreign, language
from core.text.query import coverage


@dataclass(frozen=True)
class Question:
    project_id: UUID
    text: str


def least_score(
    runtime: Runtime, question: Question, found: Found, best: Ranked, params: RankingParams
) -> float | None:
    """The score that the best hit deserves at least: None when no kind of evidence convinces, neither all of it
    together, nor the words, nor the meaning alone; 0 when the fused score says enough.

    Between languages cosines lie below the calibrated range, so that a meaning which convinces alone is given the
    score of a fair match. Only where evidence and words leave doubt, the stored vectors of the nearest memories are
    read, and once for each language some neutral questions are embedded. Raises DatabaseUnavailable, ModelError.
    """
    if best.evidence >= params.convincing_sum:  # nearly always, so the words need not be looked at
        return 0.0
    named = _nearest(found, "bm25", 1)
    words = coverage(question.text, found.memories[named[0]].text) if named else 0.0
    if not doubtful(BestHit(best.evidence, words), params):
        return 0.0
    ids = _nearest(found, "dense", params.usual_of)
    embedder = runtime.models.embedder
    with runtime.database.statements(question.project_id) as tx:
        vectors = tx.search_reads.vectors(question.project_id, ids, embedder.dims)
    nearest = [id_ for id_ in ids if id_ in vectors]
    if not nearest:
        return 0.0
    asked_in, cosines = language(question.text), found.scores["dense"]
    usual = np.stack([vectors[id_] for id_ in nearest]) @ _mean_question(embedder, asked_in)
    nearness = [
        Nearness(cosines[id_], cosines[id_] - mean) for id_, mean in zip(nearest, usual.tolist(), strict=True)
    ]
    stands_out = contrast(nearness, Scale(*embedder.calibration), params)
    first: Recalled = found.memories[nearest[0]]
    return params.fair_score if convincing(stands_out, foreign(question.text, first.text), params) else None


def lifted(ranked: Sequence[Ranked], least: float) -> list[Ranked]:
    """All hits by one factor, so that the best has `least` at least; the order stays."""
    factor = least / ranked[0].score
    return [hit.scaled(factor) for hit in ranked] if factor > 1 else list(ranked)


def _nearest(found: Found, name: str, most: int) -> list[UUID]:
    """The best confirmed memories of one list, best first."""
    scores = found.scores.get(name, {})
    return sorted((id_ for id_ in scores if id_ in found.memories), key=lambda id_: (-scores[id_], id_))[:most]


def _mean_question(embedder: Embedder, asked_in: str) -> Matrix:
    """The mean vector of the neutral questions; the embedder keeps query vectors (adapters/query_cache.py)."""
    mean: Matrix = np.mean([embedder.embed_query(text) for text in neutral_questions(asked_in)], axis=0)
    return mean
