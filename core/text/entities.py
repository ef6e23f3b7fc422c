"""Names in a text: capitalised runs, quotations, identifiers and CJK names, with canonical keys and aliases.

No model is involved: the rules prefer a name too many to a name too few, because a key that nothing else
carries costs no search anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from core.domain.memory import Entity
from core.text.bm25 import Sparse, token_id
from core.text.cjk_names import cjk_names, cjk_runs
from core.text.keys import NAME_PART
from core.text.keys import canonical_key as canonical_key  # part of this module's face
from core.text.lang.names import COMMON
from core.text.lang.stopwords import LATIN
from core.text.latin_names import latin_names
from core.text.normalise import fold, unaccented
from core.text.scripts import CJK

_WORDLIKE = rf"[^\W{CJK}]"  # Han beside an identifier is no part of it
_IDENTIFIER = re.compile(
    rf"(?<!{_WORDLIKE})(?<![@/.\-])(?=[A-Za-z0-9_\-./]*\d)(?=[0-9_\-./]*[A-Za-z])"
    rf"[A-Za-z0-9]+(?:[\-_./][A-Za-z0-9]+)*(?!{_WORDLIKE}|-)"
    rf"|(?<!{_WORDLIKE})(?<![.,:/\-])\d{{4,}}(?!{_WORDLIKE}|[.,:/\-]|\s*(?:km|kg|m|g|%|€|\$|年))"
    rf"|(?<!{_WORDLIKE})[A-Za-z]+_[A-Za-z0-9_]+(?!{_WORDLIKE})"
)
_NOT_IDENTIFIER = re.compile(
    r"\d+(?:st|nd|rd|th|am|pm|k|km|kg|cm|mm|m|g|ml|l|gb|mb|tb|h|hrs?|min|s|x|%)\Z"
    r"|(?:1[89]|20)\d\d\Z"
)
_QUOTED = re.compile(r"[「『《〈“«„\"]([^「」『』《》〈〉“”«»„\"\n]{2,60})[」』》〉”»\"]")
_STOP = frozenset().union(*LATIN.values())


def entities(text: str, speaker: str | None = None) -> tuple[Entity, ...]:
    """Distinct things named in a text, in order of appearance, the speaker (a person) first. At most 24."""
    found: dict[str, Entity] = {}
    if speaker and canonical_key(speaker):
        _add(found, Entity(speaker, canonical_key(speaker), "person"))
    text = fold_width(text)
    plain = _IDENTIFIER.sub(_blank, text)
    for entity in (*_quoted(text), *_identifiers(text), *latin_names(plain), *cjk_names(text)):
        _add(found, entity)
    return tuple(found.values())[:24]


def fold_width(text: str) -> str:
    """Full-width Latin letters and digits to ASCII, everything else as it stands."""
    return "".join(chr(ord(char) - 0xFEE0) if "！" <= char <= "～" else char for char in text)


def _blank(match: re.Match[str]) -> str:
    """Identifiers are no part of capitalised runs; years and measures, which only look like them, are."""
    return match.group() if _NOT_IDENTIFIER.match(match.group().lower()) else "," * len(match.group())


def entity_keys(entity: Entity) -> list[str]:
    """The canonical key, then aliases: the last and the first word of a personal name; an identifier joined."""
    keys = [entity.key]
    words = entity.key.split(" ")
    if len(words) > 1 and _IDENTIFIER.fullmatch(entity.name):
        keys.append("".join(words))
    elif 1 < len(words) <= 3 and entity.type in ("person", "other"):
        keys += [word for word in (words[-1], words[0]) if _telling(word)]
    return [key for key in dict.fromkeys(keys) if key]


def query_keys(text: str) -> list[str]:
    """Every key a question might mean: its names with their aliases, and its one- to three-word runs.

    Questions are often typed without capitals; a run that is no entity's key matches nothing.
    """
    keys = [key for entity in entities(text) for key in entity_keys(entity)]
    words = [unaccented(word) for word in NAME_PART.findall(_without_possessives(fold(text)))]
    for size in (3, 2, 1):
        for start in range(len(words) - size + 1):
            run = words[start : start + size]
            if _telling(run[0]) and _telling(run[-1]):
                keys.append(" ".join(run))
    keys += cjk_runs(text)
    return list(dict.fromkeys(keys))


def entity_sparse(keys: Iterable[str]) -> Sparse:
    """Keys to a sparse vector of ones; the index adds the inverse document frequency."""
    ids = dict.fromkeys(token_id("entity:" + key) for key in keys)
    return Sparse(list(ids), [1.0] * len(ids))


def _without_possessives(folded: str) -> str:
    return re.sub(r"'s\b", "", folded)


def _telling(word: str) -> bool:
    return (len(word) > 1 or not word.isascii()) and word not in _STOP and word not in COMMON


def _add(found: dict[str, Entity], entity: Entity) -> None:
    """First come stays, but a type that says more than "other" wins."""
    known = found.get(entity.key)
    if entity.key and (known is None or (known.type == "other" != entity.type)):
        found[entity.key] = entity


def _quoted(text: str) -> Iterable[Entity]:
    for match in _QUOTED.finditer(text):
        name = match.group(1).strip(" ,.，。")
        if 0 < len(name.split()) <= 8 and not name.endswith(("?", "？", "!", "！")):
            yield Entity(name, canonical_key(name), "product" if match.group()[0] in "《『" else "other")


def _identifiers(text: str) -> Iterable[Entity]:
    for match in _IDENTIFIER.finditer(text):
        if not _NOT_IDENTIFIER.match(match.group().lower()):
            yield Entity(match.group(), canonical_key(match.group()), "other")
