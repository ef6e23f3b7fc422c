"""Every number of the ranking, in one place. docs/ranking.md tells how they were found and what each is worth.

The numbers are round on purpose: the optimum is flat, and a third digit would describe the tuning data alone.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Weights:
    """What each piece of evidence can contribute to the fused score; adds up to 1."""

    # semantic
    dense: float  # the memory's own calibrated cosine
    before: float  # that of what was said before it: an answer is found by its question
    after: float  # that of what was said after it
    # bm25
    bm25: float  # the query's words in the memory itself
    bm25_ctx: float  # the query's words in the memory and, fainter, in the conversation around it
    session: float  # the best matches of the same session: was this what that talk was about?
    # entity
    entity: float  # names shared with the query
    speaker: float  # said by a person the query names
    # temporal
    temporal: float  # the time asked for, or a time at all where the query asks when


POINTED = Weights(
    dense=0.12,
    before=0.16,
    after=0.13,
    bm25=0.05,
    bm25_ctx=0.27,
    session=0.10,
    entity=0.01,
    speaker=0.05,
    temporal=0.11,
)
# "What books …", "how many …", "which … both": the answer lies scattered over many talks, so what a memory says
# itself counts for more, and the time at which it was said for less.
COLLECTING = Weights(
    dense=0.18,
    before=0.13,
    after=0.15,
    bm25=0.04,
    bm25_ctx=0.30,
    session=0.08,
    entity=0.02,
    speaker=0.04,
    temporal=0.06,
)


@dataclass(frozen=True)
class RankingParams:
    pointed: Weights = POINTED
    collecting: Weights = COLLECTING

    # BM25 has no upper end. s / (s + half) maps it to 0..1 without looking at the rest of the list, so that a
    # score never depends on what else was found; `half` is the score that counts as half a perfect match.
    bm25_half: float = 14.0
    bm25_ctx_half: float = 14.0
    entity_half: float = 6.0

    # A position with no recalled memory is given this share of the candidate's own dense evidence, so that a fact
    # that stands alone is not put behind a turn of a conversation.
    alone: float = 0.85
    session_best: int = 3  # how many of a session's best matches are averaged

    # Factors that know nothing of the query.
    question_factor: float = 0.93  # a question is rarely an answer
    superseded_factor: float = 0.75  # an older truth is worth showing, below the newer one
    repeat_factor: float = 0.5  # a memory that says what a better hit has said already

    # The fused sum is stretched so that a fair match passes the clients' usual threshold of 0.3:
    # score = sum^stretch. Monotone, so it moves no memory past another.
    stretch: float = 0.6

    # Abstention: a query is off-topic when its best hit reaches none of these (docs/ranking.md, "Abstention").
    convincing_sum: float = 0.30  # fused evidence, before stretching
    convincing_coverage: float = 0.6  # share of the query's terms in the best BM25 hit
    convincing_contrast: float = 0.36  # how far the nearest memory stands out, see abstention.contrast
    convincing_contrast_foreign: float = 0.26  # the same where query and memory are in two languages
    fair_score: float = 0.3  # what the best hit has at least where its meaning alone convinces
    contrast_power: float = 1.5
    usual_of: int = 90  # nearest memories whose medians are the usual values; the same for every `top_k`
    usual_most: float = 0.45  # calibrated; no usual cosine counts as higher
    usual_from: int = 10  # others from which the usual values are sure; of fewer, part is assumed
    usual_alone: float = 0.15  # calibrated; assumed where there is one memory
    usual_beyond_most: float = 0.06  # cosine beyond neutral questions; no usual one counts as higher
    usual_beyond_alone: float = 0.0  # assumed where there is one memory

    # Recall: candidates per list. Shorter lists end before the evidence does (docs/ranking.md, "Recall depth").
    recall_factor: int = 6
    recall_least: int = 120
    recall_most: int = 1500
    whole_factor: int = 2  # a scope of so many lists' lengths is read whole instead of asked for its dense list,
    whole_most: int = 600  # but of no more rows than these

    pool_factor: int = 3  # hits that repeats and decay may reorder, in top_k
    pool_least: int = 50


DEFAULT = RankingParams()
