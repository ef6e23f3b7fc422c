"""The one analyser of index and query: text to search tokens, whatever the language.

Folding (NFKC, case), then runs by script: words of spaced scripts give their surface and their stems;
identifiers stay whole and are split too; Chinese runs give dictionary words, and all CJK runs give
character bigrams, so that a name no dictionary knows is still found.
Stems are marked ("~hund"), so a surface match weighs more than a stem match. A text of a clear language is
stemmed in it; a text without a clear language is stemmed in every candidate (see `language`), so that a
short query meets its memory even though its language could not be told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

import rjieba

from core.text.lang.stopwords import CHINESE, ENGLISH, JAPANESE, LATIN, RUSSIAN
from core.text.language import ALL_LATIN, latin_languages
from core.text.normalise import fold, unaccented
from core.text.scripts import CJK, HAN, HANGUL, INDIC, KANA, MARKS, UNSPACED
from core.text.stems import script_language, stem, unelided

_CHAR = rf"[^\W{CJK}{UNSPACED}]|[{INDIC}{MARKS}]"
_RUN = re.compile(
    rf"(?P<cjk>[{HAN}{KANA}]+)|(?P<hangul>[{HANGUL}]+)|(?P<unspaced>[{UNSPACED}]+)"
    rf"|(?P<word>(?:{_CHAR})+(?:['._\-/@:+#](?:{_CHAR})+)*[+#]{{0,2}})"
)
_HAN_RUN = re.compile(f"[{HAN}]+")
_LETTERS = rf"(?:[^\W\d_]|[{INDIC}{MARKS}])+"
_PLAIN = re.compile(rf"{_LETTERS}(?:'{_LETTERS})?\Z")
_PART = re.compile(rf"{_LETTERS}|\d+")
_PIECES = re.compile(rf"(?:[^\W_]|[{INDIC}{MARKS}])+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_MAX_WORD = 64
_PARTICLES = frozenset("的了吗呢吧啊をはがの")


def tokens(text: str) -> list[str]:
    """Search tokens of a text, in order, with repeats. Empty only when the text has no letter or digit.

    Stop words go, unless nothing else is there ("The Who"). Total: any string is accepted.
    """
    folded = _THOUSANDS.sub("", fold(text))
    runs = [(match.lastgroup, match.group()) for match in _RUN.finditer(folded)]
    languages = latin_languages([run for kind, run in runs if kind == "word"], folded)
    found: list[str] = []
    for kind, run in runs:
        found.extend(_ANALYSE[kind or "word"](run, languages))
    return found or [unaccented(run)[:_MAX_WORD] for _, run in runs]


@lru_cache(maxsize=131072)
def _word(run: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    if len(run) > _MAX_WORD:
        return tuple(dict.fromkeys(piece[:_MAX_WORD] for piece in _PIECES.findall(run)))
    if _PLAIN.match(run):
        return _plain(run, languages)
    return _identifier(run, languages)


def _plain(run: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    """A word of letters: surface and stems, or nothing for a stop word."""
    own = script_language(run)
    if own is not None:
        return () if run in RUSSIAN else (run, "~" + stem(run, own))
    stopping = languages if languages != ALL_LATIN else ("en",)
    if any(run in LATIN[code] for code in stopping):
        return ()
    bare = unelided(run)
    if bare != run:
        return _plain(bare, languages)
    word = run.removesuffix("'s").replace("'", "")
    if word in ENGLISH and word != run:
        return ()
    stems = dict.fromkeys("~" + stem(word, code) for code in languages)
    return (unaccented(word), *stems)


def _identifier(run: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    """Whole, joined, and in parts: zx-81-q → zx-81-q, zx81q, zx, 81, q. Parts that are words are stemmed too."""
    whole = unaccented(run)
    found = {whole: None, "".join(_PIECES.findall(whole)): None}
    for piece in _PIECES.findall(run):
        parts = _PART.findall(piece)
        if len(parts) > 1 or not parts:
            found[unaccented(piece)] = None
        for part in parts:
            found.update(dict.fromkeys(_plain(part, languages) if part.isalpha() and len(part) > 1 else (part,)))
    found.pop("", None)
    return tuple(found)


def _bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


def _cjk(run: str, _languages: tuple[str, ...]) -> list[str]:
    """Dictionary words of Han runs, bigrams of the whole run; a lone character stands for itself.

    A word of two characters counts twice, as word and as bigram: words outweigh accidental pairs.
    """
    found = [word for han in _HAN_RUN.findall(run) for word in rjieba.cut(han) if word not in CHINESE]
    found += [pair for pair in _bigrams(run) if not _grammar(pair)]
    if not found and run not in CHINESE and run not in JAPANESE:
        found.append(run)
    return found


def _grammar(pair: str) -> bool:
    """Bigrams of particles carry no meaning; Japanese endings are most of them."""
    if pair in CHINESE or pair in JAPANESE or pair[0] in _PARTICLES or pair[1] in _PARTICLES:
        return True
    return pair[0] in JAPANESE and pair[1] in JAPANESE


def _hangul(run: str, _languages: tuple[str, ...]) -> list[str]:
    """The spaced word and its syllable pairs: particles are attached, so pairs do a stemmer's work."""
    return [run, *_bigrams(run)] if len(run) > 2 else [run]


def _unspaced(run: str, _languages: tuple[str, ...]) -> list[str]:
    return [run[i : i + 3] for i in range(max(1, len(run) - 2))]


_ANALYSE: dict[str, Callable[[str, tuple[str, ...]], Iterable[str]]] = {
    "word": _word,
    "cjk": _cjk,
    "hangul": _hangul,
    "unspaced": _unspaced,
}
