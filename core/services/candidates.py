"""Recalled memories as the ranking sees them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from core.domain.conversation import speaker_of
from core.domain.memory import Memory, MemoryState
from core.domain.neighbourhood import Place
from core.domain.ranking import Candidate
from core.domain.temporal import TimeTold
from core.services.recall import Found
from core.text.entities import canonical_key
from core.text.query import QueryTerms
from core.text.told import days_told, ends_in_question

_NOTHING_TOLD = TimeTold()


def candidates_of(found: Found, terms: QueryTerms) -> Sequence[Candidate]:
    """One candidate for each confirmed memory."""
    return [_candidate(memory, found, terms) for memory in found.memories.values()]


def _candidate(memory: Memory, found: Found, terms: QueryTerms) -> Candidate:
    said_at = memory.said_at or memory.created_at
    text = memory.memory
    return Candidate(
        id=memory.id,
        place=Place(memory.scope.key, memory.lane_key, memory.position, said_at, memory.scope.run_id),
        cosine=_score(found, "dense", memory.id),
        bm25=_score(found, "bm25", memory.id) or 0.0,
        bm25_ctx=_score(found, "bm25_ctx", memory.id) or 0.0,
        entity=_score(found, "entity", memory.id) or 0.0,
        said_by_subject=_said_by_subject(memory, terms),
        question=ends_in_question(text),
        length=len(text),
        told=_told(memory, terms),
        superseded=memory.state is MemoryState.SUPERSEDED,
        replaced_by=memory.replaced_by,
    )


def _score(found: Found, name: str, id_: UUID) -> float | None:
    return found.scores.get(name, {}).get(id_)


def _said_by_subject(memory: Memory, terms: QueryTerms) -> bool:
    speaker = speaker_of(memory.memory) or memory.actor_id
    return speaker is not None and canonical_key(speaker) in terms.keys


def _told(memory: Memory, terms: QueryTerms) -> TimeTold:
    """Dates are looked for only where the query asks for any: it is the dearest part of the ranking."""
    if not terms.time.any:
        return _NOTHING_TOLD
    said_at = memory.said_at or memory.created_at
    return TimeTold(days_told(memory.memory, said_at, memory.event_date), said_at.date())
