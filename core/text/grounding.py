"""Is a candidate memory supported by what was said?

Names and numbers must occur in the sources, negation must stand where it stood, a question is no fact, and what
a clause is about must be more than half in the sources. Wording is free: relations and reporting verbs may be new.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from core.text.clauses import Clause, clauses, content
from core.text.entities import fold_width
from core.text.lang.answers import NO, YES
from core.text.lang.negation import HARD, SOFT
from core.text.lang.paraphrase import PARAPHRASE, PARAPHRASE_HAN, REPORTING, REPORTING_CJK
from core.text.language import language
from core.text.normalise import fold, unaccented
from core.text.numbers import months, numbers
from core.text.support import Support, unsupported_name

OVERLAP = 0.5  # share of a claim's content that a source clause must hold to speak of the same thing
NOVEL = 0.5  # share of a claim's telling words that nobody said, above which it is invented
MANY = 2  # marks of content from which a claim can be told to come from a question
_HAVING = re.compile(r"\b(?:has|have|owns?|hat|habe|besitzt|tiene|a|possède)\b|有")
_MINE = re.compile(r"\b(?:my|our|mein\w*|unser\w*|mis?|mon|ma|mes|notre)\b|我的|我家|私の|うちの")
_FORMERLY = re.compile(
    r"\b(?:used to|until|till|formerly|previously|once|was|were|\w+ed|früher|bis|antes|hasta|avant)\b|以前|曾|前"
)
_RELATIVE = re.compile(
    r"\b(?:yesterday|today|tomorrow|ago|last|next|this|gestern|heute|morgen|vor|letzte\w*|nächste\w*|ayer|hoy|hace|"
    r"pasad[oa]|hier|demain|il y a|derni\w+)\b|[昨今明上下去]|先",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)*")


def ungrounded(candidate: str, sources: Sequence[str], *, allowed: Sequence[str] = ()) -> str | None:
    """Why a candidate is not supported by its sources, or None when it is.

    `sources` are the messages and shown memories, in order; `allowed` adds speaker names and resolved dates (ISO),
    which may be named without having been said.
    """
    code = language(" ".join([candidate, *sources]))
    support = Support.of([*sources, *allowed], code)
    claims = clauses(candidate, code)
    told = _told(sources, code)
    return (
        _number(candidate, support)
        or _month(candidate, sources, allowed)
        or unsupported_name(fold_width(candidate), support)
        or _flipped(claims, told, code)
        or _asked(candidate, claims, told)
        or _invented(claims, support, code)
        or _empty(candidate, claims, support, code)
    )


def _number(candidate: str, support: Support) -> str | None:
    missing = sorted(numbers(candidate) - support.numbers)
    return f"number {missing[0]} is not in the conversation" if missing else None


def _month(candidate: str, sources: Sequence[str], allowed: Sequence[str]) -> str | None:
    """A month that neither was named nor lies in a resolved date. Without resolved dates relative ones stay open."""
    named = months(candidate)
    known = frozenset().union(*map(months, [*sources, *allowed]))
    if not named - known or (not allowed and any(_RELATIVE.search(source) for source in sources)):
        return None
    return f"month {min(named - known)} is not in the conversation"


def _told(sources: Sequence[str], code: str) -> list[list[Clause]]:
    """The clauses of each source; a question that the next message answers with yes or no becomes a statement."""
    found: list[list[Clause]] = []
    for index, source in enumerate(sources):
        own = list(clauses(source, code))
        answer = fold(sources[index + 1]) if index + 1 < len(sources) else ""
        denied = bool(NO.match(answer))
        if denied or YES.match(answer):
            own = [replace(clause, asks=False, denies=denied) if clause.asks else clause for clause in own]
        found.append(own)
    return found


def _flipped(claims: Sequence[Clause], told: Sequence[Sequence[Clause]], code: str) -> str | None:
    for claim in claims:
        if claim.asks:
            continue
        nearest = _nearest(claim, [clause for source in told for clause in source], code)
        contradicted = nearest and all(_contradicts(claim, clause) for clause in nearest)
        if contradicted and not _told_elsewhere(claim, nearest, told, code):
            return f"negation differs: {claim.text!r} against {nearest[0].text!r}"
    return None


def _nearest(claim: Clause, told: Sequence[Clause], code: str) -> list[Clause]:
    """The source clauses that share most with the claim, if that is enough to speak of the same thing.

    Enough is half of the claim's telling words, or of all its words where none is telling.
    """
    telling = claim.about - _free_words(code) or claim.about
    shares = [(len(claim.about & clause.about), clause) for clause in told]
    best = max((share for share, _ in shares), default=0)
    nearest = [clause for share, clause in shares if share == best and best]
    if not any(len(telling & clause.about) >= OVERLAP * len(telling) for clause in nearest):
        return []
    return [] if len(telling) == 1 and _presupposed(claim, nearest) else nearest


def _presupposed(claim: Clause, nearest: Sequence[Clause]) -> bool:
    """ "I don't let my cat out" still says that there is a cat."""
    return not claim.denies and _HAVING.search(claim.text) is not None and any(_MINE.search(c.text) for c in nearest)


def _told_elsewhere(claim: Clause, nearest: Sequence[Clause], told: Sequence[Sequence[Clause]], code: str) -> bool:
    """Does a clause that agrees tell what the contradicting ones leave open?

    Either in the same message ("I won't come, Ann will come for me": Ann comes), or nearly as much in another
    message, with a pronoun for the rest ("I'd never buy one").
    """
    telling = claim.about - _free_words(code)
    best = len(claim.about & nearest[0].about)
    for source in told:
        same = any(clause in nearest for clause in source)
        for clause in source:
            shared = claim.about & clause.about
            if claim.denies != clause.denies or _contradicts(claim, clause) or not shared & telling:
                continue
            if same and len(shared) >= 2 and shared - nearest[0].about:
                return True
            if not same and len(shared) >= best - 1:
                return True
    return False


def _contradicts(claim: Clause, clause: Clause) -> bool:
    if clause.asks:
        return False
    if not (claim.soft or clause.soft) or claim.soft & clause.soft:
        return claim.denies != clause.denies
    if clause.quits and not (claim.denies or claim.soft or _FORMERLY.search(claim.text)):
        return True
    differ = (claim.denies ^ bool(claim.soft)) != (clause.denies ^ bool(clause.soft))
    return differ and (claim.likes or clause.likes)


def _asked(candidate: str, claims: Sequence[Clause], told: Sequence[Sequence[Clause]]) -> str | None:
    """A claim that is nearest to a question, and that no statement supports as well."""
    if _reports_question(candidate):
        return None
    flat = [clause for source in told for clause in source]
    for claim in claims:
        if claim.asks or len(claim.about) < (MANY if any(not clause.asks for clause in flat) else 1):
            continue
        asked = max((len(claim.about & clause.about) for clause in flat if clause.asks), default=0)
        stated = max((len(claim.about & clause.about) for clause in flat if not clause.asks), default=0)
        if asked > stated and asked >= OVERLAP * len(claim.about):
            return f"asked, not told: {claim.text!r}"
    return None


def _reports_question(candidate: str) -> bool:
    seen = set(_WORD.findall(fold(candidate)))
    return not seen.isdisjoint(REPORTING) or any(mark in candidate for mark in REPORTING_CJK)


def _invented(claims: Sequence[Clause], support: Support, code: str) -> str | None:
    """A clause most of whose telling words nobody said."""
    free = _free_words(code)
    for claim in claims:
        telling = claim.about - free  # its numbers, already checked, count as said
        new = [mark for mark in telling if not _numeric(mark) and not support.speaks_of(mark)]
        if len(new) > NOVEL * len(telling):
            return f"not said: {claim.text!r}"
    return None


def _empty(candidate: str, claims: Sequence[Clause], support: Support, code: str) -> str | None:
    """ "I'm a user of the assistant": not one word that tells something, and nobody's own words ("I love it")."""
    free = _free_words(code)
    if numbers(candidate) or any(claim.about - free for claim in claims):
        return None
    if "".join(_WORD.findall(unaccented(fold(candidate)))).replace("'", "") in support.squashed:
        return None
    return "it tells nothing"


def _numeric(mark: str) -> bool:
    return any(char.isdigit() for char in mark)


@lru_cache(maxsize=32)
def _free_words(code: str) -> frozenset[str]:
    return content(" ".join(PARAPHRASE | SOFT), code) | PARAPHRASE_HAN | HARD
