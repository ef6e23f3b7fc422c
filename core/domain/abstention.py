"""When the honest answer is nothing: the rule on the best hit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from core.domain.ranking import Scale
from core.domain.ranking_params import RankingParams

OFF_TOPIC = "Nothing stored is about this query; threshold 0 shows the nearest memories anyway."


@dataclass(frozen=True)
class BestHit:
    """The strongest evidence found: the best fused sum (0..1), and the share (0..1) of the query's terms in the
    memory with the best BM25."""

    evidence: float
    coverage: float


class Nearness(NamedTuple):
    """Of a memory to the query: its cosine, and `beyond`: what that has beyond its mean cosine to neutral questions
    of the query's language."""

    cosine: float
    beyond: float


def doubtful(best: BestHit, params: RankingParams) -> bool:
    """Neither all evidence together nor the words alone convince, so that the meaning alone has to."""
    return best.evidence < params.convincing_sum and best.coverage < params.convincing_coverage


def contrast(nearest: Sequence[Nearness], scale: Scale, params: RankingParams) -> float:
    """How far the best memory stands out from the usual one, by the room that is left above the usual cosine.

    An embedder puts some memories near to every question, and any two Chinese texts nearer to each other than an
    English question to its German answer. So each memory is measured by what it has beyond any question of the
    query's language, as scores of speaker verification are normalised by a cohort of strangers (Auckenthaler, Carey &
    Lloyd-Thomas, "Score Normalization for Text-Independent Speaker Verification Systems", 2000, t-norm). The usual
    values are medians of the others, capped, since in a small scope all memories may be about the query. Few others
    say little of what is usual: up to `usual_from` memories, low values that are assumed count for the rest.
    """
    if not nearest:
        return 0.0
    span = scale.high - scale.low
    cosine, beyond = scale.low + params.usual_alone * span, params.usual_beyond_alone
    if len(nearest) > 1:
        cosines, beyonds = (sorted(values, reverse=True)[1:] for values in zip(*nearest, strict=True))
        seen = min(1.0, (len(nearest) - 1) / params.usual_from)
        cosine += seen * (min(median(cosines), scale.low + params.usual_most * span) - cosine)
        beyond += seen * (min(median(beyonds), params.usual_beyond_most) - beyond)
    best = max(one.beyond for one in nearest)
    return float((best - beyond) / (1 - cosine) ** params.contrast_power)


def convincing(stands_out: float, foreign: bool, params: RankingParams) -> bool:
    """Whether the meaning alone convinces. Across languages (`foreign`) all cosines lie closer together."""
    return stands_out >= (params.convincing_contrast_foreign if foreign else params.convincing_contrast)
