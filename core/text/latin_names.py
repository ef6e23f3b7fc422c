"""Names in scripts with capitals: maximal runs of capitalised words, cleaned of what only begins a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.domain.memory import Entity
from core.text.keys import canonical_key
from core.text.lang.chatter import PHATIC
from core.text.lang.names import (
    CALENDAR,
    COMMON,
    INSIDE,
    MOTION,
    ORGANISATION,
    PERSON_AFTER,
    PERSON_BEFORE,
    PLACE,
    PLACE_BEFORE,
    TITLES,
)
from core.text.lang.paraphrase import OPENING_NOUNS, PARAPHRASE
from core.text.lang.stopwords import ENGLISH, LATIN, RUSSIAN
from core.text.language import language
from core.text.normalise import fold
from core.text.scripts import CJK
from core.text.sentences import sentences

_LETTERS = rf"[^\W\d_{CJK}]+"
_WORD = re.compile(rf"{_LETTERS}(?:['’\-]{_LETTERS})*|\d+")
_POSSESSIVE = re.compile(r"['’]s?\Z")
_SELF = re.compile(
    r"(?:\b(?:my name is|i am|i['’]m|call me|ich heiße|me llamo|je m['’]appelle|soy)) $", re.IGNORECASE
)
_KNOWN = COMMON | PHATIC | PARAPHRASE | OPENING_NOUNS
_COMMON_ENDING = ("ing", "ly", "ed", "ness", "tion", "ment", "ity", "ance", "ence", "ful", "ive", "ous", "est")


@dataclass(frozen=True)
class _Run:
    """Words `start` to `end` of a sentence, seen as one name."""

    sentence: str
    words: list[re.Match[str]]
    start: int
    end: int

    @property
    def folded(self) -> list[str]:
        return [fold(word.group()) for word in self.words[self.start : self.end]]

    @property
    def name(self) -> str:
        text = self.sentence[self.words[self.start].start() : self.words[self.end - 1].end()]
        return _POSSESSIVE.sub("", text)

    def before(self, distance: int = 1) -> str:
        index = self.start - distance
        return fold(self.words[index].group()) if index >= 0 else ""

    @property
    def after(self) -> str:
        return fold(self.words[self.end].group()) if self.end < len(self.words) else ""


def latin_names(text: str) -> Iterator[Entity]:
    """Entities of the capitalised runs of a text, in order, with repeats."""
    code = language(text)
    stop = LATIN.get(code, ENGLISH) | ENGLISH | RUSSIAN
    again = {word for word in re.findall(r"(?<=[^\W_] )[^\W\d_]\w+", text) if word[0].isupper()}
    for sentence in sentences(text):
        for run in _runs(sentence):
            entity = _entity(_trimmed(run, stop), code == "de", again)
            if entity is not None:
                yield entity


def _runs(sentence: str) -> Iterator[_Run]:
    words = list(_WORD.finditer(sentence))
    position = 0
    while position < len(words):
        end = _run_end(sentence, words, position)
        if end > position:
            yield _Run(sentence, words, position, end)
        position = max(end, position + 1)


def _run_end(sentence: str, words: list[re.Match[str]], start: int) -> int:
    """Index after the run beginning at `start`; `start` itself when no run begins there."""
    if not words[start].group()[0].isupper():
        return start
    end = start + 1
    while end < len(words) and _adjacent(sentence, words, end):
        word = words[end].group()
        if word[0].isupper() or (word.isdigit() and len(word) <= 4):
            end += 1
            continue
        inside = word in INSIDE and end + 1 < len(words) and _adjacent(sentence, words, end + 1)
        if not (inside and words[end + 1].group()[0].isupper()):
            break
        end += 2
    return end


def _adjacent(sentence: str, words: list[re.Match[str]], index: int) -> bool:
    """Only a space between two words, or the stop of a title ("Dr. Ek") or initial. A possessive ends a name."""
    before = words[index - 1]
    gap = sentence[before.end() : words[index].start()]
    short = fold(before.group()) in TITLES or len(before.group()) == 1
    return (gap == " " and not before.group().endswith(("'s", "’s"))) or (short and gap in (". ", "."))


def _entity(run: _Run, german: bool, again: set[str]) -> Entity | None:
    if run.start == run.end or all(word in CALENDAR or word.isdigit() for word in run.folded):
        return None
    kind = _type(run)
    if run.end - run.start == 1 and not _names(run, kind, german, again):
        return None
    key = canonical_key(run.name)
    return Entity(run.name, key, kind) if len(key) > 1 else None


def _trimmed(run: _Run, stop: frozenset[str]) -> _Run:
    """Without words at the edges that name nothing; at a sentence's beginning, without any known or inflected one."""
    start, end, words = run.start, run.end, run.words
    while start < end and _empty(words[start].group(), stop, more=end - start > 1, initial=not start):
        start += 1
    while start < end and _empty(words[end - 1].group(), stop, more=end - start > 1, initial=False):
        end -= 1
    return _Run(run.sentence, words, start, end)


def _empty(word: str, stop: frozenset[str], *, more: bool, initial: bool) -> bool:
    """Does a word at a run's edge name nothing? Titles and months may stand beside a name, not alone."""
    folded = _POSSESSIVE.sub("", fold(word))
    if folded in CALENDAR or folded in TITLES:
        return not more
    if folded in stop or (initial and (folded in _KNOWN or (more and folded.endswith(("ing", "ed"))))):
        return True
    if more and folded in PERSON_BEFORE:  # German "Sohn Paul"
        return True
    return folded in COMMON or folded.partition("'")[0] in COMMON or folded.endswith("n't") or len(folded) < 2


def _names(run: _Run, kind: str, german: bool, again: set[str]) -> bool:
    """Does one capitalised word alone name something?"""
    word = run.words[run.start].group()
    folded = run.folded[0]
    if german:  # every noun has a capital; ask for a sign
        return (
            kind in ("person", "place")
            or (len(word) > 1 and word.isupper())
            or run.before() in ("", "heißt", "heiße")
        )
    if run.start == 0 and word not in again and folded.endswith(_COMMON_ENDING):
        return False
    return folded not in CALENDAR


def _type(run: _Run) -> str:
    words, before = run.folded, run.before()
    if _SELF.search(run.sentence[: run.words[run.start].start()]) or (words[0] in TITLES and len(words) > 1):
        return "person"
    if any(word in ORGANISATION for word in words):
        return "organization"
    if words[-1] in PLACE or words[0] in ("lake", "mount", "fort"):
        return "place"
    if before in PERSON_BEFORE or run.after in PERSON_AFTER:
        return "person"
    if before in PLACE_BEFORE or (before in ("to", "from", "for", "a") and run.before(2) in MOTION):
        return "place"
    return "other"
