"""Which sentences tell something worth keeping. Rules over word classes, no model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import lru_cache

from core.text.dates import mentions
from core.text.lang.chatter import (
    ADDRESSING,
    DESCRIBING,
    EXHORTING,
    FIRST_PERSON,
    HANDED_OVER,
    LEAD,
    MAXIM,
    OPENINGS,
    PHATIC,
    PHATIC_CJK,
    PLEA,
    PRAISE,
    PROPOSAL,
    REACTION,
    SHOWING,
    STANDING,
    TOLD_BY_ASKING,
    WITNESSED,
)
from core.text.lang.machine import TOOL_LINE
from core.text.lang.stopwords import CHINESE, LATIN
from core.text.normalise import fold
from core.text.questions import asks, is_request, without_tag
from core.text.scripts import CJK, is_cjk

_STOP = frozenset().union(*LATIN.values())
_WORD = re.compile(rf"[^\W_{CJK}]+(?:['’][^\W\d_]+)*")
_CJK_CHAR = re.compile(f"[{CJK}]")
_NAME = re.compile(r"(?<=[^\W_] )(?!I\b|I['’])[A-ZÀ-Þ][\w'’]+")
_CJK_PIECE = re.compile(r"[\s.。!！~…，,、]+")
_ANY_DAY = datetime(2000, 1, 5, tzinfo=UTC)  # to see that a time is told, whichever it is
_CLAUSE_END = re.compile(r"[,;:，；]\s*|\s[-–—]\s")


FEW_WORDS = 4  # informative words up to which a reaction, or a remark about the other, is courtesy
PRAISED = 2  # the same between named people for praise of nothing of theirs: "family time is great"
MAXIMS = 4  # the same where the praise is of things in general: "spending time with family is so important"
REMARKED = 2  # the same between named people for a reaction that does not speak of the other: "it's good for …"
DESCRIBED = 3  # from which saying what a thing is is no courtesy: "it's a book that takes you to …"
DATED = 2  # from which a sentence with a time in it is no courtesy: "tomorrow's opening will be great"
ADVISED = 3  # informative words from which what people bid each other is advice, or a plan
SHOWN = 2  # from which pointing at something of one's own says what it is: "check out my new studio"
VERY_FEW_WORDS = 2  # the same for one in which the speaker occurs: "I hope you like it"


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


def sift(sentence: str, known: frozenset[str] = frozenset(), people: bool = False) -> Sifted:
    """Classify one sentence. `known` are folded names of the speakers, which tell nothing by themselves.

    `people` says that several people talk with each other: what they bid each other is advice, or a plan.
    """
    sentence = sentence.strip()
    if TOOL_LINE.match(sentence):
        return Sifted(sentence, Kind.MACHINE)
    handed = HANDED_OVER.match(sentence)
    if handed and handed.end() < len(sentence) and not asks(sentence[handed.end() :]):
        return _told(sentence, sentence[handed.end() :], known)
    by_asking = TOLD_BY_ASKING.match(sentence)
    if by_asking:
        return _told(sentence, sentence[by_asking.end() :].rstrip("?？ ") + ".", known)
    told = without_tag(sentence)
    if told != sentence:
        return _told(sentence, told, known)
    if asks(sentence):
        leading = _statement_before(sentence)
        return Sifted(sentence, Kind.TELLS, leading) if leading else Sifted(sentence, Kind.ASKS)
    if _requests(sentence, known, people):
        return Sifted(sentence, Kind.REQUESTS)
    return _told(sentence, sentence, known)


def _requests(sentence: str, known: frozenset[str], people: bool) -> bool:
    """Wants something done now. A proposal with a time or a place is an appointment.

    To a person one does not say what to write or to run, but what would be good for them, or "look at my …".
    """
    bare = LEAD.sub("", fold(sentence))
    matter = informative(sentence, known)
    if PROPOSAL.match(bare):
        dated = specific(sentence, known) or mentions(sentence, _ANY_DAY)
        return not (dated or (people and matter >= ADVISED and not EXHORTING.match(bare)))
    if people and SHOWING.match(bare) and FIRST_PERSON.search(bare):
        return matter < SHOWN
    if people and matter >= ADVISED and not PLEA.match(bare):
        return False
    return is_request(sentence)


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
    told = _without_opening(told.strip(), known)
    if _phatic_cjk(told) or _says_little(told, known):
        return Sifted(sentence, Kind.PHATIC)
    return Sifted(sentence, Kind.TELLS, told)


def _without_opening(told: str, known: frozenset[str]) -> str:
    """ "It was fun." of "Thanks Maria, it was fun.": openings and whom they address tell nothing."""
    match = _opening(known).match(told)
    if match is None or not informative(told[match.end() :], known):
        return told
    rest = told[match.end() :]
    return rest[:1].upper() + rest[1:] if told[0].isupper() else rest


@lru_cache(maxsize=1024)
def _opening(known: frozenset[str]) -> re.Pattern[str]:
    names = "|".join(re.escape(name) for name in sorted(known)) or "(?!)"
    return re.compile(
        rf"(?:(?:(?:{OPENINGS})(?:\s+(?:{names}))?|{names})\s*(?:[,!.…，！。、]+|\s[-–—])\s*)+(?=\S)", re.IGNORECASE
    )


def _says_little(told: str, known: frozenset[str]) -> bool:
    """Nothing but courtesy, a reaction to the other's words, or a remark about them without anything specific.

    The limits come from five long human conversations whose questions name their evidence: of such sentences'
    tokens one in seven or fewer stood in a turn that was evidence, of all statements' tokens more than one in three.
    """
    matter = informative(told, known)
    if not matter:
        return True
    folded = fold(told)
    if matter > FEW_WORDS or specific(told, known) or STANDING.search(folded):
        return False
    mine = FIRST_PERSON.search(folded) is not None
    addressed = ADDRESSING.search(folded) is not None
    if not addressed and matter >= DATED and mentions(told, _ANY_DAY):
        return False
    if REACTION.match(folded):
        return addressed or not known or matter <= REMARKED
    if known and not mine and PRAISE.search(folded) and matter <= (MAXIMS if MAXIM.match(folded) else PRAISED):
        return addressed or not WITNESSED.match(folded)
    if matter >= DESCRIBED and DESCRIBING.match(folded):
        return False
    return addressed and (not mine or matter <= VERY_FEW_WORDS)


def fragment(told: str) -> bool:
    """A word or two of nobody's ("pizza"), which say something only as an answer."""
    short = len(_CJK_CHAR.findall(told)) + 2 * len(_WORD.findall(told)) <= 4
    return short and not specific(told) and not FIRST_PERSON.search(fold(told))


def specific(told: str, known: frozenset[str] = frozenset()) -> bool:
    """A number, an identifier, or a name that is not a speaker's."""
    if any(char.isdigit() for char in told):
        return True
    return any(fold(word).removesuffix("'s") not in known for word in _NAME.findall(told))


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
