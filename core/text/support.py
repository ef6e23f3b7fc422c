"""What the sources of a claim hold: their words, numbers and names, made easy to ask."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.domain.memory import Entity
from core.text.clauses import content
from core.text.entities import entities
from core.text.lang.names import COMMON
from core.text.lang.paraphrase import OPENING_NOUNS, PARAPHRASE
from core.text.lang.roles import ROLES
from core.text.lang.stopwords import LATIN
from core.text.language import language
from core.text.normalise import fold, unaccented
from core.text.numbers import numbers
from core.text.remembered import remembered
from core.text.scripts import CJK, is_cjk

_WORD = re.compile(rf"[^\W_{CJK}]+|[{CJK}]+")
_PREFIX = 4  # letters that two forms of one word share ("lernt", "lerne")
_FREE = COMMON | ROLES | PARAPHRASE | frozenset().union(*LATIN.values())
# Endings of common nouns: a sentence may begin with one without naming anybody.
_NOUN_ENDING = re.compile(
    r"(?:ing|tion|sion|ment|ness|ity|ance|ence|ery|ure|age|ship|ism|sis|hood|ies|ers|ors|als|ung|heit|keit|schaft|zeit|"
    r"en|ción|dad|miento|té|eur)\Z"
)


@dataclass(frozen=True)
class Support:
    """`text`: all sources folded, without diacritics. `squashed`: its letters and digits alone. `about`: its
    content."""

    text: str
    squashed: str
    words: frozenset[str]
    prefixes: frozenset[str]
    numbers: frozenset[str]
    about: frozenset[str]

    @classmethod
    def of(cls, texts: Sequence[str], code: str) -> Support:
        """The support of these texts in language `code`."""
        return _joined(tuple(texts), code)

    def speaks_of(self, mark: str) -> bool:
        """Is a mark of `content` in the sources? Forms of a word that share four letters count as one."""
        if mark in self.about:
            return True
        if is_cjk(mark):
            return mark in self.text
        return len(mark) >= _PREFIX and (mark[:_PREFIX] in self.prefixes or mark in self.squashed)

    def names(self, word: str) -> bool:
        return word in self.words or (len(word) >= 3 and word in self.squashed)


@lru_cache(maxsize=8)  # all candidates of one answer rest on the same texts
def _joined(texts: tuple[str, ...], code: str) -> Support:
    parts = [_support(text, code) for text in texts]
    return Support(
        text="\n".join(part.text for part in parts),
        squashed="".join(part.squashed for part in parts),
        words=frozenset().union(*(part.words for part in parts)),
        prefixes=frozenset().union(*(part.prefixes for part in parts)),
        numbers=frozenset().union(*(part.numbers for part in parts)),
        about=frozenset().union(*(part.about for part in parts)),
    )


@remembered(1024)  # the adds of a conversation share what was said before and what is known
def _support(text: str, code: str) -> Support:
    folded = unaccented(fold(text))
    found = _WORD.findall(folded)
    return Support(
        text=folded,
        squashed="".join(found),
        words=frozenset(found),
        prefixes=frozenset(word[:_PREFIX] for word in found if len(word) >= _PREFIX),
        numbers=frozenset(numbers(text, strict=False)),
        about=content(text, code),
    )


def unsupported_name(candidate: str, support: Support) -> str | None:
    """The first name of a candidate that the sources do not hold, as a reason."""
    german = language(candidate) == "de"
    for entity in entities(candidate):
        missing = [word for word in _telling(entity) if not _supported(word, support)]
        if missing and not _common_noun(entity, candidate, german):
            return f"name {entity.name!r} is not in the conversation"
    return None


def _telling(entity: Entity) -> Iterator[str]:
    """Words of a name that must have been said; pure numbers are checked as numbers."""
    for word in entity.key.split():
        if word not in _FREE and not word.isdigit():
            yield word


def _supported(word: str, support: Support) -> bool:
    return word in support.text if is_cjk(word) else support.names(word)


def _common_noun(entity: Entity, candidate: str, german: bool) -> bool:
    """A capital that only the position or the language asks for."""
    single = " " not in entity.name and entity.name[1:].islower()
    initial = candidate.startswith(entity.name)
    if not single or not (initial or german) or entity.type == "person":
        return False
    return bool(_NOUN_ENDING.search(entity.key)) or entity.key.rstrip("s") in OPENING_NOUNS
