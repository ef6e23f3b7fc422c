"""Clauses of a text with what they speak of and whether they affirm or deny it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from core.text.lang.negation import GIVEN_UP, HARD, HARD_CJK, IDIOMS, LIKING, LIKING_CJK, QUITTING, SOFT, SOFT_CJK
from core.text.lang.numbers import WEAK, WORDS
from core.text.lang.roles import ROLE_CHARS, ROLES
from core.text.lang.stopwords import CHINESE, ENGLISH, LATIN
from core.text.language import language
from core.text.normalise import fold, unaccented
from core.text.questions import asks, is_request
from core.text.remembered import remembered
from core.text.scripts import CJK, HAN, HANGUL
from core.text.sentences import sentences
from core.text.stems import script_language, stem, unelided

_SPLIT = re.compile(
    r"[;，；：、()（）]|,(?!\d)|:(?!\d)|\s[-–—]\s|(?<=[\u4e00-\u9fff])(?=但|可是|不过(?!敏)|而且)|(?<=が)、"
    r"|\b(?:but|although|though|however|while|whereas|because|and|so|aber|obwohl|sondern|weil|und|denn|pero|aunque|"
    r"porque|y|sino|mais|quoique|parce que|et|car|donc)\b",
    re.IGNORECASE,
)
_WORD = re.compile(rf"[^\W_{CJK}]+(?:'[^\W\d_{CJK}]+)*")
_HAN_CHAR = re.compile(f"[{HAN}]")
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]{2,}")
_HANGUL_RUN = re.compile(f"[{HANGUL}]+")
_CHINESE_STOP = frozenset(char for word in CHINESE if len(word) == 1 for char in word) | ROLE_CHARS


@dataclass(frozen=True)
class Clause:
    """`about`: stems, Han characters and numbers of its content. `denies`: a hard negation is in it.

    `soft` are its words that lean against without a "not" ("hate", "allergic"), `likes` that it speaks of liking
    or being able, `asks` that it belongs to a question or a request, `quits` that something came to its end.
    """

    text: str
    about: frozenset[str]
    denies: bool
    soft: frozenset[str]
    likes: bool
    asks: bool
    quits: bool = False


@remembered(4096)
def clauses(text: str, code: str) -> tuple[Clause, ...]:
    """The clauses of all sentences of a text in language `code`; those that speak of nothing are left out."""
    found: list[Clause] = []
    for sentence in sentences(text):
        folded = fold(sentence)
        asking = asks(sentence) or is_request(sentence)
        for part in _parts(GIVEN_UP.sub(" stopped ", IDIOMS.sub(" ", folded))):
            clause = _clause(part, code, asking)
            if found and clause.about and all(mark.isdigit() for mark in clause.about):
                found[-1] = replace(found[-1], about=found[-1].about | clause.about)  # ", since 2019"
            elif clause.about:
                found.append(clause)
    return tuple(found)


def content(text: str, code: str | None = None) -> frozenset[str]:
    """What a text speaks of: stems of its words, Han characters, numbers; no grammar, roles or negators."""
    code = code or language(text)
    return frozenset(_content(fold(text), code))


def _content(folded: str, code: str) -> Iterator[str]:
    stop = LATIN.get(code, ENGLISH)
    for word in _WORD.findall(folded):
        word = unelided(word).removesuffix("'s")
        if word in WORDS and word not in WEAK:
            yield str(WORDS[word])
        elif word.isdigit() or (len(word) > 1 and word not in stop and word not in HARD and word not in ROLES):
            yield stem(unaccented(word), script_language(word) or code)
    affirmed = HARD_CJK.sub("", folded)
    yield from (char for char in _HAN_CHAR.findall(affirmed) if char not in _CHINESE_STOP)
    yield from (run for run in _KATAKANA.findall(affirmed) if run not in ROLES)
    for run in _HANGUL_RUN.findall(affirmed):
        yield from (run[i : i + 2] for i in range(max(1, len(run) - 1)))


def denies(text: str) -> bool:
    """Is a hard negation in this text (idioms apart)?"""
    folded = IDIOMS.sub(" ", fold(text))
    return not HARD.isdisjoint(_WORD.findall(folded)) or bool(HARD_CJK.search(folded)) or "n't" in folded


def _parts(folded: str) -> Iterator[str]:
    return (part.strip() for part in _SPLIT.split(folded) if part and part.strip())


def _clause(part: str, code: str, asking: bool) -> Clause:
    seen = frozenset(_WORD.findall(part))
    soft = frozenset(stem(word, code) for word in seen & SOFT) | frozenset(SOFT_CJK.findall(part))
    return Clause(
        text=part,
        about=frozenset(_content(part, code)),
        denies=denies(part),
        soft=soft,
        likes=not LIKING.isdisjoint(seen) or bool(LIKING_CJK.search(part)),
        asks=asking,
        quits=bool(QUITTING.search(part)),
    )
