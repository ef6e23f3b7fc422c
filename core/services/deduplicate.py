"""Stage 3, Deduplicate: what is already known is reported, not stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from core.domain.memory import Candidate, Memory
from core.domain.outcomes import Outcome
from core.domain.scope import Scope
from core.ports.models import Matrix
from core.text.normalise import canonical, content_hash
from core.text.similar import near_duplicate

# Cosines below this are not looked at: for this embedder unrelated sentences lie around 0.75 to 0.85.
NEAR_COSINE = 0.86


@dataclass(frozen=True)
class Draft:
    """A candidate on its way to a row: its final text, hash and scope, and later its vector."""

    candidate: Candidate
    text: str
    hash: str
    scope: Scope
    verbatim: bool = False
    vector: Matrix | None = field(default=None, compare=False)


def drafts_of(candidates: Sequence[Candidate], scope: Scope, *, verbatim: bool) -> tuple[list[Draft], list[Outcome]]:
    """Candidates with their place; repeats of one text within the event are told as duplicates."""
    drafts: dict[tuple[str, str], Draft] = {}
    outcomes = []
    for candidate in candidates:
        text = canonical(candidate.text)
        place = scope if verbatim else scope.attributed(candidate.attributed_to)
        key = (place.key, content_hash(text))
        if key in drafts:
            outcomes.append(Outcome("duplicate_of", text))
        elif text:
            drafts[key] = Draft(replace(candidate, text=text), text, key[1], place, verbatim)
    return list(drafts.values()), outcomes


def twin_of(draft: Draft, memories: Sequence[Memory]) -> Memory | None:
    """The memory of the same scope that already says this; inferred drafts only.

    Dates must be equal or absent; names, numbers and negation are judged by `near_duplicate`.
    """
    if draft.verbatim or draft.vector is None:
        return None
    for memory in memories:
        if memory.scope.key != draft.scope.key or not memory.embedding:
            continue
        cosine = float(np.frombuffer(memory.embedding, dtype="<f4") @ draft.vector)
        dates = {memory.event_date, draft.candidate.event_date} - {None}
        if cosine >= NEAR_COSINE and len(dates) <= 1 and near_duplicate(draft.text, memory.memory, cosine):
            return memory
    return None


def without_twins(drafts: Sequence[Draft]) -> tuple[list[Draft], list[Outcome]]:
    """Near repeats among the drafts of one event: the first is kept."""
    kept: list[Draft] = []
    outcomes = []
    for draft in drafts:
        if any(_repeats(draft, other) for other in kept):
            outcomes.append(Outcome("duplicate_of", draft.text))
        else:
            kept.append(draft)
    return kept, outcomes


def _repeats(draft: Draft, other: Draft) -> bool:
    if draft.verbatim or draft.scope != other.scope or draft.vector is None or other.vector is None:
        return False
    if draft.candidate.event_date != other.candidate.event_date:
        return False
    cosine = float(draft.vector @ other.vector)
    return cosine >= NEAR_COSINE and near_duplicate(draft.text, other.text, cosine)
