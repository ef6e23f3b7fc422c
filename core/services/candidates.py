"""Recalled memories as the ranking sees them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from uuid import UUID

from core.domain.conversation import speaker_of
from core.domain.neighbourhood import Place
from core.domain.ranking import PARTS, Candidate, Ranked, saturated
from core.domain.ranking_params import RankingParams
from core.domain.recalled import Recalled
from core.domain.temporal import NOTHING_TOLD, TimeTold
from core.services.recall import Found
from core.text.entities import canonical_key
from core.text.query import QueryTerms
from core.text.remembered import remembered
from core.text.similar import retelling
from core.text.told import days_told, ends_in_question

_TOLD_AHEAD = 24  # of the best by words, what they say is read ahead: it is dear


def candidates_of(found: Found, terms: QueryTerms) -> Sequence[Candidate]:
    """One candidate for each confirmed memory."""
    lists = [found.scores.get(name, {}) for name in ("dense", "bm25", "bm25_ctx", "entity")]
    return [
        _candidate(memory, [scores.get(id_) for scores in lists], terms) for id_, memory in found.memories.items()
    ]


def _candidate(memory: Recalled, scores: Sequence[float | None], terms: QueryTerms) -> Candidate:
    cosine, bm25, bm25_ctx, entity = scores
    text = memory.text
    speaker = _speaker_key(text) or (canonical_key(memory.actor_id) if memory.actor_id else None)
    return Candidate(
        id=memory.id,
        place=Place(memory.scope_key, memory.lane_key, memory.position, memory.said_at, memory.run_id),
        cosine=cosine,
        bm25=bm25 or 0.0,
        bm25_ctx=bm25_ctx or 0.0,
        entity=entity or 0.0,
        said_by_subject=speaker in terms.keys,
        question=ends_in_question(text),
        told=_told(memory) if terms.asked.time.any else NOTHING_TOLD,
        superseded=memory.superseded,
        replaced_by=memory.replaced_by,
    )


def read_ahead(found: Found, enough: Callable[[], bool]) -> None:
    """Read what ranking will want to know of the texts, the likeliest first, until it is `enough`.

    What is read is kept by text (`_speaker_key`, `_retelling`), so ranking finds it read.
    """
    likely = found.scores.get("bm25_ctx", {})
    best = sorted(found.memories, key=lambda id_: -likely.get(id_, 0.0))
    for place, id_ in enumerate(best):
        if enough():
            return
        text = found.memories[id_].text
        _speaker_key(text)
        if place < _TOLD_AHEAD:
            retelling(text)


def by_keywords(found: Found, params: RankingParams) -> list[Ranked]:
    """By BM25 alone."""
    scores = {
        id_: saturated(score, params.bm25_half)
        for id_, score in found.scores.get("bm25", {}).items()
        if id_ in found.memories
    }
    ranked = [Ranked(id_, score, dict.fromkeys(PARTS, 0.0) | {"bm25": score}) for id_, score in scores.items()]
    return sorted(ranked, key=lambda hit: (-hit.score, hit.id))


def repeats_last(
    ranked: Sequence[Ranked], memories: Mapping[UUID, Recalled], params: RankingParams, wanted: int
) -> list[Ranked]:
    """The `wanted` best once memories that say what a better one has said already have stepped back.

    Reading a text for what it says is dear: no further hit is read when none can come up into the `wanted` best.
    """
    said: set[Hashable] = set()
    kept: list[Ranked] = []
    for hit in ranked:
        if len(kept) >= wanted and sum(better.score >= hit.score for better in kept) >= wanted:
            break
        telling = retelling(memories[hit.id].text)
        kept.append(hit.scaled(params.repeat_factor) if telling in said else hit)
        said.add(telling)
    return sorted(kept, key=lambda hit: -hit.score)[:wanted]


@remembered(16384)
def _speaker_key(text: str) -> str | None:
    speaker = speaker_of(text)
    return canonical_key(speaker) if speaker else None


def _told(memory: Recalled) -> TimeTold:
    """Dates are looked for only where the query asks for any: it is the dearest part of the ranking."""
    return TimeTold(days_told(memory.text, memory.said_at, memory.event_date), memory.said_at.date())
