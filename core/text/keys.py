"""The canonical form of a name: things with one key are one thing."""

from __future__ import annotations

import re

from core.text.lang.names import TITLES
from core.text.normalise import fold, unaccented

NAME_PART = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"'s?\Z")


def canonical_key(name: str) -> str:
    """Folded, without diacritics, titles, possessives and punctuation: "Dr. José Ek's" → "jose ek"."""
    words = [unaccented(word) for word in NAME_PART.findall(_POSSESSIVE.sub("", fold(name)).replace("'", ""))]
    while len(words) > 1 and words[0] in TITLES | {"the"}:
        words = words[1:]
    return " ".join(words)
