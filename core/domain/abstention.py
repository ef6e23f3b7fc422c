"""When the honest answer is nothing: the rule on the best hit."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.ranking_params import RankingParams

OFF_TOPIC = "Nothing stored is about this query; threshold 0 shows the nearest memories anyway."


@dataclass(frozen=True)
class BestHit:
    """The strongest evidence found, each 0..1: the best fused sum, the best calibrated cosine, and the share of
    the query's terms in the memory with the best BM25. `foreign`: the memory with that cosine is in another language
    than the query."""

    evidence: float
    dense: float
    coverage: float
    foreign: bool = False


def off_topic(best: BestHit, params: RankingParams) -> bool:
    """No kind of evidence convinces: neither all of it together, nor the meaning alone, nor the words alone.

    A cut on the cosine alone cannot do this: the same cosine is a good match for one query and noise for another.
    Cosines between languages are lower, and words are no help there, so that meaning alone has a lower bar then.
    """
    bar = params.convincing_dense_foreign if best.foreign else params.convincing_dense
    return best.evidence < params.convincing_sum and best.dense < bar and best.coverage < params.convincing_coverage
