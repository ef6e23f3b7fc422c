"""Is a candidate memory supported by what was said? (design §5, Grounding)

Names and numbers must occur in the sources, negation must stand where it stood, and a question is no fact.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.text.clauses import Clause, clauses, content
from core.text.entities import canonical_key, entities
from core.text.lang.names import COMMON
from core.text.lang.negation import HARD
from core.text.normalise import fold, unaccented
from core.text.numbers import numbers

OVERLAP = 0.5  # share of a claim's content that a source clause must hold to speak of the same thing


def ungrounded(candidate: str, sources: Sequence[str], *, allowed: Sequence[str] = ()) -> str | None:
    """Why a candidate is not supported by its sources, or None when it is.

    `sources` are the messages and shown memories; `allowed` adds speaker names and resolved dates (ISO), which may
    be named without having been said.
    """
    support = [*sources, *allowed]
    return (
        _number(candidate, support)
        or _name(candidate, support)
        or _flipped(candidate, sources)
        or _asked(candidate, sources)
    )


def _number(candidate: str, support: Sequence[str]) -> str | None:
    known = set().union(*(numbers(text, strict=False) for text in support))
    missing = sorted(numbers(candidate) - known)
    return f"number {missing[0]} is not in the conversation" if missing else None


def _name(candidate: str, support: Sequence[str]) -> str | None:
    said = unaccented(fold("\n".join(support)))
    keys = canonical_key(said)
    for entity in entities(candidate):
        words = [word for word in entity.key.split() if word not in COMMON]
        if not all(word in keys or word in said for word in words):
            return f"name {entity.name!r} is not in the conversation"
    return None


def _flipped(candidate: str, sources: Sequence[str]) -> str | None:
    told = [clause for source in sources for clause in clauses(source)]
    for claim in clauses(candidate):
        matching = _matching(claim, told)
        if matching and all(_contradicts(claim, clause) for clause in matching):
            return f"negation differs: {claim.text!r} against {matching[0].text!r}"
    return None


def _matching(claim: Clause, told: list[Clause]) -> list[Clause]:
    """The source clauses that share most with the claim, if that is enough."""
    best = max((len(claim.about & clause.about) for clause in told), default=0)
    if best < OVERLAP * len(claim.about) or not best:
        return []
    return [clause for clause in told if len(claim.about & clause.about) == best]


def _contradicts(claim: Clause, clause: Clause) -> bool:
    if claim.denies != clause.denies:
        return not (claim.leans or clause.leans)
    return claim.leans != clause.leans and not claim.denies and (claim.likes or clause.likes)


def _asked(candidate: str, sources: Sequence[str]) -> str | None:
    """A claim that only a question supports."""
    about = content(candidate)
    told = [clause for source in sources for clause in clauses(source)]
    stated = frozenset().union(*(clause.about for clause in told if not clause.asks))
    asked = frozenset().union(*(clause.about for clause in told if clause.asks))
    if about & asked and not about & stated and not _reports_question(candidate):
        return "it was asked, not told"
    return None


def _reports_question(candidate: str) -> bool:
    reporting = {"asked", "asks", "wants", "wanted", "interested", "curious", "wonders", "fragt", "fragte", "möchte"}
    seen = set(fold(candidate).split()) - HARD
    return bool(seen & reporting) or any(mark in candidate for mark in ("问", "想知道", "想了解", "聞", "知りたい"))
