"""Fusion: from what each list says of each candidate to one score in (0, 1] and its breakdown.

Pure arithmetic over one search's own candidates. Nothing here depends on other projects or on the size of the
result, and a score is the sum of its four parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from core.domain.neighbourhood import Around, Assumed, Place, surroundings
from core.domain.ranking_params import DEFAULT, RankingParams, Weights
from core.domain.temporal import TimeAsked, TimeTold, temporal_match

_LEAST = 1e-6  # scores are above zero
_BELOW = 0.999  # of its replacement's score, at most, for a superseded memory
PARTS = ("semantic", "bm25", "entity", "temporal")


@dataclass(slots=True)
class Candidate:
    """One recalled memory. List scores are raw, None or 0 where a list did not hold it.

    `said_by_subject`: the query names one person, and this memory is that person's. `question`: it ends in one.
    `replaced_by` is set on a superseded memory.
    """

    id: UUID
    place: Place
    cosine: float | None = None
    bm25: float = 0.0
    bm25_ctx: float = 0.0
    entity: float = 0.0
    said_by_subject: bool = False
    question: bool = False
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
class Asked:
    """What kind of query it is. `collecting`: it asks for things that are scattered ("what books …")."""

    time: TimeAsked = field(default_factory=TimeAsked)
    collecting: bool = False


@dataclass(frozen=True)
class Ranked:
    """`score` in (0, 1] is the sum of `breakdown` (semantic, bm25, entity, temporal), but for rounding."""

    id: UUID
    score: float
    breakdown: Mapping[str, float]
    evidence: float = 0.0  # the fused sum before stretching, for abstention

    def scaled(self, factor: float) -> Ranked:
        breakdown = {part: value * factor for part, value in self.breakdown.items()}
        return Ranked(self.id, self.score * factor, breakdown, self.evidence)


def calibrated(cosine: float, scale: Scale) -> float:
    """A cosine on 0..1: unrelated text of this embedder is 0, near-identical text is 1."""
    return min(1.0, max(0.0, (cosine - scale.low) / (scale.high - scale.low)))


def saturated(score: float, half: float) -> float:
    """An unbounded score on 0..1, `half` being the middle."""
    return score / (score + half) if score > 0 else 0.0


def fuse(
    candidates: Sequence[Candidate],
    asked: Asked,
    scale: Scale,
    params: RankingParams = DEFAULT,
    most: int | None = None,
) -> list[Ranked]:
    """The `most` best (all by default), best first; equal scores by cosine, then by id: one order, every time."""
    floor = calibrated(scale.cosine_floor, scale) if scale.cosine_floor is not None else 0.0
    dense = [floor if item.cosine is None else calibrated(item.cosine, scale) for item in candidates]
    words = [saturated(item.bm25_ctx, params.bm25_ctx_half) for item in candidates]
    places = [item.place for item in candidates]
    around = surroundings(places, dense, words, Assumed(floor, params.alone, params.session_best))
    rates = _Rates(params.collecting if asked.collecting else params.pointed, params)
    near = zip(dense, words, around, strict=True)
    sums = [_parts(item, own, asked.time, rates) for item, own in zip(candidates, near, strict=True)]
    evidence = {item.id: sum(parts) * _quality(item, params) for item, parts in zip(candidates, sums, strict=True)}
    evidence = _newest_truth_first(evidence, candidates)
    order = sorted(zip(candidates, sums, strict=True), key=lambda pair: _place_in_order(pair[0], evidence))
    return [_ranked(item.id, parts, evidence[item.id], params) for item, parts in order[:most]]


def _place_in_order(item: Candidate, evidence: Mapping[UUID, float]) -> tuple[float, float, UUID]:
    """Between languages many cosines are below the calibrated range and count as nothing; their order still tells."""
    return -evidence[item.id], 1.0 if item.cosine is None else -item.cosine, item.id


_Near = tuple[float, float, Around]  # a candidate's own calibrated dense and lexical evidence, and what stands around


class _Rates(NamedTuple):
    weights: Weights
    params: RankingParams


class _Parts(NamedTuple):
    """In the order of PARTS."""

    semantic: float
    bm25: float
    entity: float
    temporal: float


def _parts(item: Candidate, near: _Near, time: TimeAsked, rates: _Rates) -> _Parts:
    (weights, params), (dense, words, around) = rates, near
    return _Parts(
        weights.dense * dense + weights.before * around.before + weights.after * around.after,
        weights.bm25 * saturated(item.bm25, params.bm25_half)
        + weights.bm25_ctx * words
        + weights.session * around.session,
        weights.entity * saturated(item.entity, params.entity_half) + weights.speaker * item.said_by_subject,
        weights.temporal * temporal_match(time, item.told) if time.any else 0.0,
    )


def _ranked(id_: UUID, parts: _Parts, evidence: float, params: RankingParams) -> Ranked:
    """The score follows from the evidence alone, so both have one order; the parts are scaled to add up to it."""
    if evidence <= 0:
        return Ranked(id_, _LEAST, dict.fromkeys(PARTS, 0.0) | {"semantic": _LEAST})
    score = max(_LEAST, min(1.0, evidence**params.stretch))
    scale = score / sum(parts)
    return Ranked(id_, score, {name: value * scale for name, value in zip(PARTS, parts, strict=True)}, evidence)


def _quality(item: Candidate, params: RankingParams) -> float:
    """Factors that know nothing of the query: what kind of memory this is."""
    factor = params.question_factor if item.question else 1.0
    return factor * (params.superseded_factor if item.superseded else 1.0)


def _newest_truth_first(evidence: dict[UUID, float], candidates: Sequence[Candidate]) -> dict[UUID, float]:
    """No superseded memory above the one that replaced it, where both were found."""
    newer = {item.id: item.replaced_by for item in candidates if item.replaced_by is not None}
    newer = {id_: after for id_, after in newer.items() if after in evidence}
    if not newer:
        return evidence
    return {id_: _limit(id_, evidence, newer) for id_ in evidence}


def _limit(id_: UUID, evidence: Mapping[UUID, float], newer: Mapping[UUID, UUID]) -> float:
    """The most a memory may have: just below that of each later one of its chain."""
    limit, current, seen = evidence[id_], id_, {id_}
    for steps in range(1, len(newer) + 1):
        following = newer.get(current)
        if following is None or following in seen:
            break
        limit = min(limit, evidence[following] * _BELOW**steps)
        current = following
        seen.add(current)
    return limit
