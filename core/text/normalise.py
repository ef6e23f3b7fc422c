"""Text made comparable: for storage hashes (`canonical`, `content_hash`) and for look-up (`fold`)."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_SPACE = re.compile(r"\s+")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff\ufff9-\ufffb]")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "＇": "'", "`": "'", "´": "'", "“": '"', "”": '"'})


def canonical(text: str) -> str:
    """NFC, trimmed, every run of white space one space. What is kept of a text when it is hashed."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()


def content_hash(text: str) -> str:
    """MD5 (32 hex digits) of the canonical text; a fingerprint for equality, not a protection."""
    raw = canonical(text).encode("utf-8", "surrogatepass")
    return hashlib.md5(raw, usedforsecurity=False).hexdigest()


def fold(text: str) -> str:
    """NFKC with case folded: full-width forms become ASCII, typographic apostrophes straight, invisibles vanish.

    Folding twice is folding once: NFKC can produce letters that fold again, so the order is
    normalise, fold, normalise (Unicode 3.13, D145 to D147).
    """
    if text.isascii():
        return text.lower().replace("`", "'")
    mapped = _INVISIBLE.sub("", text.translate(_QUOTES))
    folded = unicodedata.normalize("NFKC", mapped).casefold()
    return unicodedata.normalize("NFKC", folded).translate(_QUOTES)


def unaccented(word: str) -> str:
    """A folded word without diacritics, so that "jose" finds "José"; letters of other scripts stay whole."""
    if word.isascii():
        return word
    kept: list[str] = []
    for char in unicodedata.normalize("NFD", word):
        if unicodedata.category(char) == "Mn" and kept and kept[-1] < "\u0250":
            continue
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept))


def encodable(text: str) -> str:
    """Lone surrogates become question marks, for libraries that take UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")
