"""Which languages a text may be in. A guess that admits doubt: an uncertain text gets every candidate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from core.text.lang.stopwords import LATIN
from core.text.scripts import HAN, HANGUL, KANA

# Letters that belong to few languages; each seen weighs as one stop word.
_LETTERS = {"de": "ßüä", "es": "ñ¿¡", "pt": "ãõ", "fr": "œç"}
_HINTS = {letter: code for code, letters in _LETTERS.items() for letter in letters}
_HINT = re.compile("[" + "".join(_HINTS) + "]")
_KANA = re.compile(f"[{KANA}]")
_HAN = re.compile(f"[{HAN}]")
_ONLY_CHINESE = re.compile("[的了吗嗎呢是在这這那哪谁誰么麼们們几幾怎]")  # what Japanese writes in kana
_HANGUL = re.compile(f"[{HANGUL}]")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
ALL_LATIN = tuple(LATIN)


@lru_cache(maxsize=32768)
def _stop_languages(word: str) -> tuple[str, ...]:
    return tuple(code for code, words in LATIN.items() if word in words)


def latin_languages(words: Sequence[str], folded: str = "") -> tuple[str, ...]:
    """Languages of Latin-script words (folded), best first.

    The language whose stop words explain most of the text, and those nearly as good. With no evidence at
    all the answer is every language known: the caller then stems for all of them, and a text of a known
    language meets that text whatever its own guess was.
    """
    scores: dict[str, float] = {}
    for word in words:
        for code in _stop_languages(word):
            scores[code] = scores.get(code, 0.0) + 1.0
    if folded and not folded.isascii():
        for letter in _HINT.findall(folded):
            code = _HINTS[letter]
            scores[code] = scores.get(code, 0.0) + 1.0
    if not scores:
        return ALL_LATIN
    ranked = sorted(scores.items(), key=lambda item: (-item[1], ALL_LATIN.index(item[0])))
    best = ranked[0][1]
    if best < 2 and len(words) > 3:
        return ALL_LATIN
    return tuple(code for code, score in ranked if score >= 0.7 * best)


def language(text: str) -> str:
    """One language code for a text: zh, ja, ko by script, else the best Latin guess, "en" when in doubt."""
    if _KANA.search(text):
        return "ja"
    han, hangul = len(_HAN.findall(text)), len(_HANGUL.findall(text))
    if han or hangul:
        latin = sum(char.isascii() and char.isalpha() for char in text)
        if (han + hangul) * 4 >= latin:
            return "zh" if han >= hangul else "ko"
    folded = text.casefold().replace("’", "'")
    found = latin_languages(_WORD.findall(folded), folded)
    return "en" if found == ALL_LATIN or "en" in found[:1] else found[0]


def foreign(query: str, text: str) -> bool:
    """Whether a query is surely in another language than a text. A name or a single word may be in any."""
    one, other = language(query), language(text)
    if one == other:
        return False
    if {one, other} == {"zh", "ja"}:
        return bool(_KANA.search(query) or _ONLY_CHINESE.search(query))
    if one in ALL_LATIN and other in ALL_LATIN:
        folded = query.casefold().replace("’", "'")
        return latin_languages(_WORD.findall(folded), folded) != ALL_LATIN
    return True
