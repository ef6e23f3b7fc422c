"""Snowball stems, cached. Stemmer objects carry state, so a lock guards the cache's misses."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock

import snowballstemmer

from core.text.lang.irregular import BASE
from core.text.normalise import unaccented

_SNOWBALL = {
    "en": "english",
    "de": "german",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "pt": "portuguese",
    "nl": "dutch",
    "ru": "russian",
    "el": "greek",
    "ar": "arabic",
    "hi": "hindi",
}
_ELIDED = frozenset({"l", "d", "j", "m", "n", "s", "t", "c", "qu", "dell", "nell", "all", "dall", "un"})
_stemmers: dict[str, snowballstemmer.stemmer] = {}
_lock = Lock()


@lru_cache(maxsize=131072)
def stem(word: str, language: str) -> str:
    """The stem of a folded word, without diacritics; the word itself where the language has no stemmer."""
    name = _SNOWBALL.get(language)
    if name is None:
        return word
    with _lock:
        if language not in _stemmers:
            _stemmers[language] = snowballstemmer.stemmer(name)
        regular = BASE.get(word, word) if language == "en" else word
        return unaccented(_stemmers[language].stemWord(regular)) or word


def script_language(word: str) -> str | None:
    """The one language whose stemmer serves a word of a non-Latin script, or None."""
    first = word[0]
    if "\u0400" <= first <= "\u04ff":
        return "ru"
    if "\u0370" <= first <= "\u03ff":
        return "el"
    if "\u0600" <= first <= "\u06ff":
        return "ar"
    if "\u0900" <= first <= "\u097f":
        return "hi"
    return None


def unelided(word: str) -> str:
    """ "école" of "l'école": French and Italian articles and pronouns run into the next word."""
    head, apostrophe, rest = word.partition("'")
    return rest if apostrophe and rest and head in _ELIDED else word
