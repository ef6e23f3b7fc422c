"""How long a text is for a model, and cutting it where it is too long."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_WIDE = re.compile("[ᄀ-ᇿ⺀-鿿ꀀ-꓿가-힣豈-﫿︰-﹏＀-￯\U0001f000-\U0003ffff]")
_BORDERS = (
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?…])[\"'”’)\]]{0,3}\s+|[。！？；]+[”」』）]*"),
    re.compile(r"[,;:、，]\s*"),
    re.compile(r"\s+"),
)


def clean(text: str) -> str:
    """Without what no store or model takes: NUL, which ends a C string, and lone surrogates."""
    return _UNSTORABLE.sub(" ", text)


def estimate_tokens(text: str) -> int:
    """Tokens of a chat model's tokenizer, estimated from above without one.

    About 4 characters of English a token; 2 of other alphabets; CJK about one character a token. Sized on
    public byte-pair vocabularies of 100,000 to 200,000 entries, which spend fewer on almost all text.
    """
    wide = len(_WIDE.findall(text))
    ascii_ = sum(1 for char in text if char < "\x80")
    return math.ceil(wide + ascii_ / 3.6 + (len(text) - wide - ascii_) / 2)


def split_to_fit(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Pieces that fit, in order; joined they are the text again. Cut near the middle, at the best border there.

    Borders in order of liking: paragraph, line, sentence, clause, space, any character.
    """
    if len(text) < 2 or fits(text):
        return [text]
    at = _middle_border(text)
    return split_to_fit(text[:at], fits) + split_to_fit(text[at:], fits)


def _middle_border(text: str) -> int:
    """Where to cut: the best kind of border within the middle half, nearest to the middle."""
    middle = len(text) // 2
    low, high = len(text) // 4, len(text) - len(text) // 4
    for border in _BORDERS:
        ends = [match.end() for match in border.finditer(text, low, high) if 0 < match.end() < len(text)]
        if ends:
            return min(ends, key=lambda end: abs(end - middle))
    return middle
