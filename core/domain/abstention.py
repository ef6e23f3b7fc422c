"""When the honest answer is nothing: the rule on the best hit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from core.domain.ranking import Scale
from core.domain.ranking_params import RankingParams

OFF_TOPIC = "Nothing stored is about this query; threshold 0 shows the nearest memories anyway."


@dataclass(frozen=True)
class BestHit:
    """The strongest evidence found: the best fused sum (0..1), how far the best cosine stands out (see `contrast`),
    and the share (0..1) of the query's terms in the memory with the best BM25. `foreign`: the memory with that
    cosine is in another language than the query."""

    evidence: float
    contrast: float
    coverage: float
    foreign: bool = False


def contrast(cosines: Iterable[float], scale: Scale, params: RankingParams) -> float:
    """How far the best cosine stands out from the usual one, by the room that is left above that.

    The usual cosine is the median of the others. It differs by languages more than a good match differs from noise:
    an embedder puts any two Chinese texts nearer to each other than an English question to its German answer. It is
    capped, since in a small scope all memories may be about the query; without others, a low one is assumed.
    """
    ordered = sorted(cosines, reverse=True)[: params.usual_of]
    if not ordered:
        return 0.0
    span = scale.high - scale.low
    usual = scale.low + params.usual_alone * span
    if len(ordered) > 1:
        usual = min(median(ordered[1:]), scale.low + params.usual_most * span)
    return float((ordered[0] - usual) / (1 - usual) ** params.contrast_power)


def off_topic(best: BestHit, params: RankingParams) -> bool:
    """No kind of evidence convinces: neither all of it together, nor the meaning alone, nor the words alone.

    A cut on the cosine alone cannot do this: the same cosine is a good match for one query and noise for another.
    Between languages words are no help, so that meaning alone has a lower bar then.
    """
    bar = params.convincing_contrast_foreign if best.foreign else params.convincing_contrast
    return (
        best.evidence < params.convincing_sum and best.contrast < bar and best.coverage < params.convincing_coverage
    )
