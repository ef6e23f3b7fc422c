"""Fusion: from what each list says of each candidate to one score in (0, 1] and its breakdown.

Pure arithmetic over one search's own candidates. Nothing here depends on other projects or on the size of the
result, and a score is the exact sum of its four parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from core.domain.neighbourhood import Around, Place, Recalled, surroundings
from core.domain.ranking_params import DEFAULT, RankingParams
from core.domain.temporal import TimeAsked, TimeTold, temporal_match

_LEAST, _MOST = 1e-6, 1 - 1e-9  # scores lie in (0, 1], whatever rounding does to the sum of the parts
_BELOW = 0.999  # of its replacement's score, at most, for a superseded memory
PARTS = ("semantic", "bm25", "entity", "temporal")


@dataclass(frozen=True)
class Candidate:
    """One recalled memory. List scores are raw, None or 0 where a list did not hold it.

    `said_by_subject`: the query names one person, and this memory is that person's. `question`: it ends in one.
    `length` in characters. `replaced_by` is set on a superseded memory.
    """

    id: UUID
    place: Place
    cosine: float | None = None
    bm25: float = 0.0
    bm25_ctx: float = 0.0
    entity: float = 0.0
    said_by_subject: bool = False
    question: bool = False
    length: int = 0
    told: TimeTold = field(default_factory=TimeTold)
    superseded: bool = False
    replaced_by: UUID | None = None


@dataclass(frozen=True)
class Scale:
    """What puts cosines on 0..1 for this search: the embedder's calibration, and the lowest cosine of a full list,
    which bounds that of every memory the list does not hold."""

    low: float
    high: float
    cosine_floor: float | None = None


@dataclass(frozen=True)
class Ranked:
    """`score` in (0, 1] is the exact sum of `breakdown` (semantic, bm25, entity, temporal)."""

    id: UUID
    score: float
    breakdown: Mapping[str, float]

    def scaled(self, factor: float) -> Ranked:
        return Ranked.of(self.id, {part: value * factor for part, value in self.breakdown.items()})

    @classmethod
    def of(cls, id_: UUID, breakdown: Mapping[str, float]) -> Ranked:
        """Scores are added in one fixed order, so that the same parts give the same bits."""
        return cls(id_, sum(breakdown[part] for part in PARTS), breakdown)


def calibrated(cosine: float, scale: Scale) -> float:
    """A cosine on 0..1: unrelated text of this embedder is 0, near-identical text is 1."""
    return min(1.0, max(0.0, (cosine - scale.low) / (scale.high - scale.low)))


def saturated(score: float, half: float) -> float:
    """An unbounded score on 0..1, `half` being the middle."""
    return score / (score + half) if score > 0 else 0.0


def fuse(
    candidates: Sequence[Candidate], asked: TimeAsked, scale: Scale, params: RankingParams = DEFAULT
) -> list[Ranked]:
    """Best first; equal scores by id, so that the order is the same every time."""
    floor = calibrated(scale.cosine_floor, scale) if scale.cosine_floor is not None else 0.0
    recalled = [
        Recalled(
            item.id,
            item.place,
            dense=floor if item.cosine is None else calibrated(item.cosine, scale),
            words=saturated(item.bm25_ctx, params.bm25_ctx_half),
        )
        for item in candidates
    ]
    around = surroundings(recalled, floor, params.session_best)
    ranked = [
        _ranked(item, seen, around[item.id], temporal_match(asked, item.told), params)
        for item, seen in zip(candidates, recalled, strict=True)
    ]
    ranked = _newest_truth_first(ranked, candidates)
    return sorted(ranked, key=lambda hit: (-hit.score, hit.id))


def _ranked(item: Candidate, seen: Recalled, around: Around, temporal: float, params: RankingParams) -> Ranked:
    weights = params.weights
    parts = {
        "semantic": weights.dense * seen.dense
        + weights.dense_before * around.before
        + weights.dense_after * around.after,
        "bm25": weights.bm25 * saturated(item.bm25, params.bm25_half)
        + weights.bm25_ctx * seen.words
        + weights.session * around.session,
        "entity": weights.entity * saturated(item.entity, params.entity_half)
        + weights.speaker * float(item.said_by_subject),
        "temporal": weights.temporal * temporal,
    }
    total = sum(parts[part] for part in PARTS)
    stretched = max(_LEAST, min(_MOST, (total * _quality(item, params)) ** params.stretch))
    if total <= 0:
        return Ranked.of(item.id, {**parts, "semantic": _LEAST})
    return Ranked.of(item.id, {part: value * (stretched / total) for part, value in parts.items()})


def _quality(item: Candidate, params: RankingParams) -> float:
    """Factors that know nothing of the query: what kind of memory this is."""
    filled = min(1.0, item.length / params.full_length)
    factor = params.short_factor + (1 - params.short_factor) * filled
    if item.question:
        factor *= params.question_factor
    return factor * (params.superseded_factor if item.superseded else 1.0)


def _newest_truth_first(ranked: list[Ranked], candidates: Sequence[Candidate]) -> list[Ranked]:
    """No superseded memory above the one that replaced it, where both were found."""
    scores = {hit.id: hit.score for hit in ranked}
    newer = {item.id: item.replaced_by for item in candidates if item.replaced_by in scores}
    if not newer:
        return ranked
    limits = {id_: _limit(id_, scores, newer) for id_ in scores}
    return [hit.scaled(limits[hit.id] / hit.score) if limits[hit.id] < hit.score else hit for hit in ranked]


def _limit(id_: UUID, scores: Mapping[UUID, float], newer: Mapping[UUID, UUID | None]) -> float:
    """The highest score a memory may have: just below that of each later one of its chain."""
    limit, current, seen = scores[id_], id_, {id_}
    for steps in range(1, len(newer) + 1):
        following = newer.get(current)
        if following is None or following in seen:
            break
        limit = min(limit, scores[following] * _BELOW**steps)
        current = following
        seen.add(current)
    return limit
