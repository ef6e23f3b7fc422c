"""Every number of the ranking, in one place. docs/ranking.md tells how they were found and what each is worth.

The weights of `Weights` add up to 1, so a score is a share of what a perfect memory would get.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Weights:
    """What each piece of evidence can contribute to the fused score, in the order of the breakdown's parts."""

    # semantic
    dense: float = 0.20  # the memory's own calibrated cosine
    dense_before: float = 0.16  # of what was said before it: an answer is found by its question
    dense_after: float = 0.06  # of what was said after it
    # bm25
    bm25: float = 0.07  # the query's words in the memory itself
    bm25_ctx: float = 0.25  # the query's words in the conversation around it
    session: float = 0.10  # the best matches of the same session: was this what that talk was about?
    # entity
    entity: float = 0.03  # names shared with the query
    speaker: float = 0.05  # said by the person the query asks about
    # temporal
    temporal: float = 0.08  # the time asked for, or a time at all where the query asks when


@dataclass(frozen=True)
class RankingParams:
    weights: Weights = Weights()

    # BM25 has no upper end. s / (s + half) maps it to 0..1 without looking at the rest of the list, so that a
    # score never depends on what else was found; `half` is the BM25 that counts as half a perfect match.
    bm25_half: float = 14.0
    bm25_ctx_half: float = 14.0
    entity_half: float = 6.0

    session_best: int = 3  # how many of a session's best matches are averaged

    # Quality is a factor: a question is rarely an answer, and a text of few words says little.
    question_factor: float = 0.93
    short_factor: float = 0.88  # of an empty text; rises to 1 at `full_length` characters
    full_length: int = 160

    superseded_factor: float = 0.75  # an older truth is worth showing, below the newer one
    repeat_factor: float = 0.5  # a memory that says what a better hit has said already

    # The fused sum is stretched so that a fair match passes the clients' usual threshold of 0.3:
    # score = sum^stretch. Monotone, so it moves no memory past another.
    stretch: float = 0.6

    # Abstention: off-topic unless the best hits are at least this convincing (see `abstention`).
    abstain_below: float = 0.30

    # Recall: candidates per list.
    recall_factor: int = 3
    recall_least: int = 60
    recall_most: int = 1500


DEFAULT = RankingParams()
