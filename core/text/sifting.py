"""Which sentences tell something worth keeping. Rules over word classes, no model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from core.text.lang.chatter import (
    FIRST_PERSON,
    HANDED_OVER,
    IMPERATIVE,
    PHATIC,
    PHATIC_CJK,
    SECOND_PERSON,
    TOOL_LINE,
)
from core.text.lang.stopwords import CHINESE, LATIN
from core.text.normalise import fold
from core.text.questions import asks, without_tag
from core.text.scripts import CJK, is_cjk

_STOP = frozenset().union(*LATIN.values())
_WORD = re.compile(rf"[^\W_{CJK}]+(?:['’][^\W\d_]+)*")
_CJK_CHAR = re.compile(f"[{CJK}]")
_CJK_PIECE = re.compile(r"[\s.。!！~…，,、]+")
_CLAUSE_END = re.compile(r"[,;:，；]\s*|\s[-–—]\s")


class Kind(Enum):
    """What a sentence is for."""

    TELLS = "tells"
    ASKS = "asks"
    REQUESTS = "requests"
    PHATIC = "phatic"
    MACHINE = "machine"


@dataclass(frozen=True)
class Sifted:
    """A sentence, its kind, and the part of it that tells something ("" when nothing does)."""

    text: str
    kind: Kind
    told: str = ""


def sift(sentence: str, known: frozenset[str] = frozenset()) -> Sifted:
    """Classify one sentence. `known` are folded names of the speakers, which tell nothing by themselves."""
    sentence = sentence.strip()
    if TOOL_LINE.match(sentence):
        return Sifted(sentence, Kind.MACHINE)
    handed = HANDED_OVER.match(sentence)
    if handed and handed.end() < len(sentence) and not asks(sentence[handed.end() :]):
        return _told(sentence, sentence[handed.end() :], known)
    told = without_tag(sentence)
    if told != sentence:
        return _told(sentence, told, known)
    if asks(sentence):
        leading = _statement_before(sentence)
        return Sifted(sentence, Kind.TELLS, leading) if leading else Sifted(sentence, Kind.ASKS)
    if IMPERATIVE.search(fold(sentence)):
        return Sifted(sentence, Kind.REQUESTS)
    return _told(sentence, sentence, known)


def informative(sentence: str, known: frozenset[str] = frozenset()) -> int:
    """How many words carry matter: no stop words, no phatic words, no speakers' names. CJK: characters / 2."""
    if is_cjk(sentence):
        chars = [char for char in _CJK_CHAR.findall(sentence) if char not in CHINESE]
        return len(chars) // 2 + len(_WORD.findall(sentence))
    return sum(_matters(word, known) for word in _WORD.findall(fold(sentence)))


def _matters(word: str, known: frozenset[str]) -> bool:
    return word not in _STOP and word not in PHATIC and word not in known and (len(word) > 1 or word.isdigit())


def _phatic_cjk(told: str) -> bool:
    pieces = [piece for piece in _CJK_PIECE.split(told) if piece]
    return bool(pieces) and all(PHATIC_CJK.match(piece) for piece in pieces)


def _told(sentence: str, told: str, known: frozenset[str]) -> Sifted:
    if _phatic_cjk(told) or not informative(told, known):
        return Sifted(sentence, Kind.PHATIC)
    if SECOND_PERSON.match(fold(told)) and not FIRST_PERSON.search(fold(told)):
        return Sifted(sentence, Kind.PHATIC)
    return Sifted(sentence, Kind.TELLS, told.strip())


def _statement_before(question: str) -> str:
    """The clauses before a question that state something of the speaker: "I have a cat, what does it eat?"."""
    pieces = _CLAUSE_END.split(question)
    kept: list[str] = []
    for piece in pieces[:-1]:
        if asks(piece) or not FIRST_PERSON.search(fold(piece)):
            break
        kept.append(piece)
    stated = question[: question.find(kept[-1]) + len(kept[-1])] if kept else ""
    return stated + "." if informative(stated) >= 2 else ""
