"""Case-insensitive comparison, one character for one, the same in Python and in PostgreSQL.

`lower()` of a database depends on its locale (the C locale knows ASCII alone), so SQL gets every spelling of a
character instead (`variants`), and Python compares folded texts (`fold`).
"""

from __future__ import annotations

from functools import lru_cache

_CASED_UNTIL = 0x1F000  # the last cased script of Unicode, Adlam, ends at U+1E943


def fold(text: str) -> str:
    """Unicode case folding without the foldings that change the length: "ß" stays "ß", "ẞ" becomes "ß"."""
    if text.isascii():
        return text.lower()
    return "".join(map(_fold_char, text))


def variants(char: str) -> str:
    """Every character that folds to the same as `char`, itself included: "k" → "kK" and the Kelvin sign."""
    folded = _fold_char(char)
    return _variants().get(folded, folded)


@lru_cache(maxsize=4096)
def _fold_char(char: str) -> str:
    for folded in (char.casefold(), char.lower()):
        if len(folded) == 1:
            return folded
    return char


@lru_cache(maxsize=1)
def _variants() -> dict[str, str]:
    table: dict[str, str] = {}
    for code in range(_CASED_UNTIL):
        char = chr(code)
        folded = _fold_char.__wrapped__(char)
        if folded != char:
            table[folded] = table.get(folded, folded) + char
    return table
