"""Is a new memory an old one told again? Only trivial rewording counts."""

from __future__ import annotations

import re
from collections.abc import Hashable

from core.text.clauses import denies
from core.text.lang.fillers import CONTRACTIONS, DIRECTED, FILLERS, FILLERS_CJK, SUBJECTS
from core.text.lang.numbers import WORDS
from core.text.normalise import fold, unaccented
from core.text.numbers import numbers
from core.text.remembered import remembered
from core.text.scripts import CJK, HAN, INDIC, KANA, MARKS, UNSPACED

SAME_MEANING = 0.97  # cosine (uncalibrated, multilingual-e5) from which a mere change of order may be a repeat
_TOKEN = re.compile(rf"[{HAN}{KANA}{UNSPACED}]|(?:[^\W{CJK}{UNSPACED}]|[{INDIC}{MARKS}'])+|[+#%€$£]")
_SENSE = re.compile(r"(?<=\w)[./:\-](?=\w)")


def near_duplicate(a: str, b: str, cosine: float | None) -> bool:
    """The same fact told again: other punctuation, case, white space, fillers, "I" for "User".

    Never when numbers, names or negation differ, nor when words changed places around a comparison
    ("tea over coffee"). `cosine` (or None when unknown) only widens this to a changed order of other words.
    """
    if numbers(a) != numbers(b) or denies(a) != denies(b):
        return False
    first, second = _telling(a), _telling(b)
    if first == second:
        return bool(first) or fold(a) == fold(b)
    if cosine is None or cosine < SAME_MEANING or len(first) < 4 or sorted(first) != sorted(second):
        return False
    directed = DIRECTED.search(fold(a)) or DIRECTED.search(fold(b))
    return not directed and _names(a) == _names(b)


@remembered(16384)
def retelling(text: str) -> Hashable:
    """Equal for texts that `near_duplicate` takes for one whatever their cosine: a key to find repeats by."""
    return (tuple(_telling(text)) or fold(text), tuple(sorted(map(str, numbers(text)))), denies(text))


def _telling(text: str) -> list[str]:
    """The words that make the statement, in order: contractions opened, fillers and the speaker dropped."""
    folded = fold(text)
    for pattern, opened in CONTRACTIONS:
        folded = pattern.sub(opened, folded)
    folded = FILLERS_CJK.sub("", SUBJECTS.sub(" ", folded))
    found = [unaccented(word).replace("'", "") for word in _TOKEN.findall(_SENSE.sub("\u0001", folded))]
    return [str(WORDS[word]) if word in WORDS else _singular(word) for word in found if word and word not in FILLERS]


def _singular(word: str) -> str:
    """ "prefers" and "prefer" are one verb once "User" and "I" are one subject."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _names(text: str) -> list[str]:
    return [fold(word) for word in re.findall(r"(?<=\s)[^\W\d_a-z]\w+", text) if word[0].isupper()]
