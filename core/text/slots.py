"""Facts of which a person has one at a time: where one lives, what one works as. A new value closes the old one.

A table of first-person phrases in the languages of the rule-based extractor. It is meant to be right rather than
complete: what it does not know stays beside the old fact, and the newer of both still ranks by its words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.text.clauses import denies
from core.text.normalise import fold
from core.text.sentences import sentences

_PATTERNS = {
    "residence": (
        r"\bi(?:'m| am)? (?:now |currently )?(?:live|living|reside|residing|based) in\b",
        r"\bi(?:'ve| have)? (?:just |recently )?(?:moved|relocated) to\b",
        r"\bich (?:wohne|lebe) (?:jetzt |nun )?in\b",
        r"\bich bin (?:\S+ ){0,4}?nach \S+ (?:um)?gezogen\b",
        r"\b(?:j'habite|je vis|j'ai déménagé|je viens de déménager) (?:maintenant )?(?:à|a|en|au)\b",
        r"\b(?:ahora )?(?:vivo en|me mud[eé] a|me he mudado a)\b",
        r"我(?:现在|目前)?(?:住在|搬到|搬去)",
        r"(?:に(?:引っ越し|住んで))",
    ),
    "occupation": (
        r"\bi(?:'m| am)? (?:now |currently )?(?:work|working) (?:as|at|for)\b",
        r"\bi(?:'ve| have)? (?:just |recently )?(?:started|got) (?:a new job|working)\b",
        r"\bmy (?:new |current )?job is\b",
        r"\bich arbeite (?:jetzt |nun )?(?:als|bei)\b",
        r"\bje travaille (?:maintenant )?(?:comme|chez)\b",
        r"\b(?:ahora )?trabajo (?:como|en|para)\b",
        r"我(?:现在|目前)?在\S{1,12}(?:工作|上班)",
    ),
    "marital status": (
        r"\bi(?:'m| am) (?:now |recently )?(?:single|engaged|married|divorced|widowed)\b",
        r"\bi (?:just |recently )?(?:got) (?:engaged|married|divorced)\b",
        r"我(?:现在)?(?:单身|结婚了|离婚了|订婚了)",
    ),
}
_SLOTS = {slot: re.compile("|".join(patterns)) for slot, patterns in _PATTERNS.items()}
_SPEAKER = re.compile(r"\s*([^:：\n]{1,40})[:：]\s*")
_OTHER_TIME = re.compile(
    r"\b(?:used to|previously|formerly|as a child|grew up|will|would|want to|plan|might|früher|avant|antes|if)\b"
    r"|以前|小时候|打算|想要"
)


def slot_of(text: str) -> tuple[str, str] | None:
    """(speaker, slot) of a statement about the speaker's present; None for plans, pasts, denials and others."""
    match = _SPEAKER.match(text)
    speaker = fold(match.group(1)) if match else "user"
    told = fold(text[match.end() :] if match else text)
    if _OTHER_TIME.search(told) or denies(told):
        return None
    return next(((speaker, slot) for slot, pattern in _SLOTS.items() if pattern.search(told)), None)


def closed_by(text: str, shown: Sequence[str]) -> list[int]:
    """Which of the shown memories a new statement makes untrue: same speaker, same slot, other words.

    A memory of several sentences stays: closing it would close the other facts in it too.
    """
    slot = slot_of(text)
    if slot is None:
        return []
    return [
        index
        for index, known in enumerate(shown)
        if slot_of(known) == slot and fold(known) != fold(text) and len(sentences(known)) == 1
    ]
