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
from core.text.lang.names import (
    CALENDAR,
    COMMON,
    INSIDE,
    ORGANISATION,
    PERSON_BEFORE,
    PLACE,
    PLACE_BEFORE,
    TITLES,
)
from core.text.lang.stopwords import LATIN
from core.text.language import language
from core.text.normalise import fold, unaccented
from core.text.sentences import sentences

_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*|\d+")
_NAME_PART = re.compile(r"[^\W_]+")
_IDENTIFIER = re.compile(
    r"(?<![\w@/.\-])(?=[\w\-./]*\d)(?=[\w\-./]*[A-Za-z])[A-Za-z0-9]+(?:[\-_./][A-Za-z0-9]+)*(?![\w\-])"
    r"|(?<![\w.,:/\-])\d{4,}(?![\w.,:/\-]|\s*(?:km|kg|m|g|%|€|\$))"
    r"|(?<!\w)[A-Za-z]+_[A-Za-z0-9_]+"
)
_NOT_IDENTIFIER = re.compile(
    r"\d+(?:st|nd|rd|th|am|pm|k|km|kg|cm|mm|m|g|ml|l|gb|mb|tb|h|hrs?|min|s|x|%)\Z"
    r"|(?:1[89]|20)\d\d\Z"
)
_QUOTED = re.compile(r"[「『《〈“«„\"]([^「」『』《》〈〉“”«»„\"\n]{2,60})[」』》〉”»\"]")
_POSSESSIVE = re.compile(r"['’]s?\Z")
_SELF = re.compile(
    r"(?:\b(?:my name is|i am|i['’]m|call me|ich bin|ich heiße|me llamo|je m['’]appelle|soy)) $", re.IGNORECASE
)
_STOP = frozenset().union(*LATIN.values())


def entities(text: str, speaker: str | None = None) -> tuple[Entity, ...]:
    """Distinct things named in a text, in order of appearance, the speaker (a person) first. At most 24."""
    found: dict[str, Entity] = {}
    if speaker and canonical_key(speaker):
        _add(found, Entity(speaker, canonical_key(speaker), "person"))
    text = fold_width(text)
    plain = _IDENTIFIER.sub(_blank, text)
    for entity in (*_quoted(text), *_identifiers(text), *_capitalised(plain), *cjk_names(text)):
        _add(found, entity)
    return tuple(found.values())[:24]


def fold_width(text: str) -> str:
    """Full-width Latin letters and digits to ASCII, everything else as it stands."""
    return "".join(chr(ord(char) - 0xFEE0) if "！" <= char <= "～" else char for char in text)


def _blank(match: re.Match[str]) -> str:
    """Identifiers are no part of capitalised runs; years and measures, which only look like them, are."""
    return match.group() if _NOT_IDENTIFIER.match(match.group().lower()) else "," * len(match.group())


def canonical_key(name: str) -> str:
    """Folded, without diacritics, titles, possessives and punctuation: "Dr. José Ek's" → "jose ek"."""
    words = [unaccented(word) for word in _NAME_PART.findall(_POSSESSIVE.sub("", fold(name)))]
    while len(words) > 1 and words[0] in TITLES | {"the"}:
        words = words[1:]
    return " ".join(words)


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
    words = [unaccented(word) for word in _NAME_PART.findall(_without_possessives(fold(text)))]
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


def _capitalised(text: str) -> Iterable[Entity]:
    german = language(text) == "de"
    for sentence in sentences(text):
        yield from _runs(sentence, german)


def _runs(sentence: str, german: bool) -> Iterable[Entity]:
    """Maximal runs of capitalised words of one sentence, small joining words allowed inside."""
    matches = list(_WORD.finditer(sentence))
    position = 0
    while position < len(matches):
        end = _run_end(sentence, matches, position)
        if end == position:
            position += 1
            continue
        entity = _entity(sentence, matches, position, end, german)
        if entity is not None:
            yield entity
        position = end


def _capital(word: str) -> bool:
    return word[0].isupper()


def _run_end(sentence: str, matches: list[re.Match[str]], start: int) -> int:
    """Index after the run beginning at `start`; `start` itself when no run begins there."""
    if not _capital(matches[start].group()):
        return start
    end = start + 1
    while end < len(matches) and _adjacent(sentence, matches, end):
        word = matches[end].group()
        if _capital(word) or (word.isdigit() and len(word) <= 4):
            end += 1
            continue
        ahead = end + 1
        inside = word in INSIDE and word != "and" and ahead < len(matches) and _adjacent(sentence, matches, ahead)
        if not (inside and _capital(matches[ahead].group())):
            break
        end += 2
    return end


def _adjacent(sentence: str, matches: list[re.Match[str]], index: int) -> bool:
    """Only spaces between two words, or the stop of a title ("Dr. Ek") or initial."""
    before = matches[index - 1]
    gap = sentence[before.end() : matches[index].start()]
    short = fold(before.group()) in TITLES or len(before.group()) == 1
    return gap == " " or (short and gap in (". ", "."))


def _entity(sentence: str, matches: list[re.Match[str]], start: int, end: int, german: bool) -> Entity | None:
    words = [match.group() for match in matches[start:end]]
    while words and _empty(words[0], len(words)):
        words, start = words[1:], start + 1
    while words and (_empty(words[-1], len(words)) or (words[-1].isdigit() and len(words) == 1)):
        words, end = words[:-1], end - 1
    if all(fold(word) in CALENDAR or word.isdigit() for word in words):
        return None
    name = _POSSESSIVE.sub("", sentence[matches[start].start() : matches[end - 1].end()])
    before = fold(matches[start - 1].group()) if start else ""
    kind = "person" if _SELF.search(sentence[: matches[start].start()]) else _type([fold(w) for w in words], before)
    if len(words) == 1 and not _names(words[0], before, kind, german, initial=not start):
        return None
    key = canonical_key(name)
    return Entity(name, key, kind) if key and len(key) > 1 else None


def _empty(word: str, run_length: int) -> bool:
    """Words at a run's edge that name nothing. Titles are kept in front of a name."""
    folded = _POSSESSIVE.sub("", fold(word)).partition("'")[0]
    if folded in CALENDAR or folded in TITLES:
        return run_length == 1
    return folded in COMMON or folded in _STOP or len(folded) < 2


def _names(word: str, before: str, kind: str, german: bool, *, initial: bool) -> bool:
    """Does one capitalised word alone name something?"""
    folded = fold(word)
    if german:  # every noun has a capital; ask for a sign
        return kind in ("person", "place") or (len(word) > 1 and word.isupper()) or before in ("", "heißt", "heiße")
    if initial and folded.endswith(("ing", "ly", "ed", "ness", "tion")):
        return False
    return folded not in CALENDAR


def _type(words: list[str], before: str) -> str:
    if words[0] in TITLES and len(words) > 1:
        return "person"
    if any(word in ORGANISATION for word in words):
        return "organization"
    if words[-1] in PLACE or words[0] in ("lake", "mount", "fort"):
        return "place"
    if before in PERSON_BEFORE:
        return "person"
    if before in PLACE_BEFORE:
        return "place"
    return "other"
