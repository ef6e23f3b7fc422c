"""Clauses of a text with what they speak of and whether they affirm or deny it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from core.text.lang.negation import HARD, HARD_CJK, IDIOMS, LIKING, LIKING_CJK, SOFT, SOFT_CJK
from core.text.normalise import fold
from core.text.questions import asks
from core.text.scripts import CJK
from core.text.sentences import sentences
from core.text.tokens import tokens

_SPLIT = re.compile(
    r"[,;:，；：、()（）]|\s[-–—]\s|(?<=[\u4e00-\u9fff])(?=但|可是|不过|而且)|(?<=が)、"
    r"|\b(?:but|although|though|however|while|whereas|because|and|so|aber|obwohl|sondern|weil|und|denn|pero|aunque|"
    r"porque|y|sino|mais|quoique|parce que|et|car|donc)\b",
    re.IGNORECASE,
)
_WORDS = re.compile(rf"[^\W\d_{CJK}]+(?:'[^\W\d_]+)*")
_CJK_TEXT = re.compile(f"[{CJK}]")


@dataclass(frozen=True)
class Clause:
    """`about`: marked stems and CJK words of its content. `denies`: hard negation; `leans`: soft negation only."""

    text: str
    about: frozenset[str]
    denies: bool
    leans: bool
    likes: bool
    asks: bool


@lru_cache(maxsize=4096)
def clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of all sentences. A negator without content of its own joins the clause before it."""
    found: list[Clause] = []
    for sentence in sentences(text):
        asked = asks(sentence)
        for part in _SPLIT.split(IDIOMS.sub(" ", fold(sentence))):
            if part and part.strip():
                found.append(_clause(part.strip(), asked))
    return tuple(clause for clause in found if clause.about)


def content(text: str) -> frozenset[str]:
    """What a text speaks of: one mark per word (its stem where it has one), negators left out."""
    marks = tokens(text)
    stems = {mark for mark in marks if mark.startswith("~")}
    rest = {mark for mark in marks if not mark.startswith("~") and _CJK_TEXT.search(mark)}
    kept = stems | rest | {mark for mark in marks if any(char.isdigit() for char in mark)}
    return frozenset(mark for mark in kept if mark.lstrip("~") not in HARD and not HARD_CJK.fullmatch(mark))


def denies(text: str) -> bool:
    """Is a hard negation in this text (idioms apart)?"""
    folded = IDIOMS.sub(" ", fold(text))
    return not HARD.isdisjoint(_WORDS.findall(folded)) or bool(HARD_CJK.search(folded)) or "n't" in folded


def _clause(part: str, asked: bool) -> Clause:
    seen = _WORDS.findall(part)
    return Clause(
        text=part,
        about=content(part),
        denies=denies(part),
        leans=not SOFT.isdisjoint(seen) or bool(SOFT_CJK.search(part)),
        likes=not LIKING.isdisjoint(seen) or bool(LIKING_CJK.search(part)),
        asks=asked,
    )
