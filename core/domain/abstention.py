"""When the honest answer is nothing: the rule on the best hit."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.ranking_params import RankingParams

OFF_TOPIC = "Nothing stored is about this query; threshold 0 shows the nearest memories anyway."


@dataclass(frozen=True)
class BestHit:
    """The strongest evidence found, each 0..1: the best fused sum, the best calibrated cosine, and the share of
    the query's terms in the memory with the best BM25."""

    evidence: float
    dense: float
    coverage: float


def off_topic(best: BestHit, params: RankingParams) -> bool:
    """No kind of evidence convinces: neither all of it together, nor the meaning alone, nor the words alone.

    A cut on the cosine alone cannot do this: the same cosine is a good match for one query and noise for another.
    """
    return (
        best.evidence < params.convincing_sum
        and best.dense < params.convincing_dense
        and best.coverage < params.convincing_coverage
    )
