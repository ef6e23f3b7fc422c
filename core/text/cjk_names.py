"""Names in Chinese and Japanese text: dictionary tags, surnames, introductions and honorifics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

import rjieba

from core.domain.memory import Entity
from core.text.lang.names import (
    CHINESE_ORG_ENDS,
    CHINESE_PLACE_ENDS,
    CHINESE_SURNAMES,
    JAPANESE_HONORIFICS,
)
from core.text.normalise import encodable
from core.text.scripts import HAN, KANA, is_han, is_kana

_INTRODUCED = re.compile(
    rf"(?:我叫|名叫|名字是|名字叫|叫做|我是|他叫|她叫|姓名[:：]?)\s*([{HAN}]{{2,4}}?)(?=[，。,.；、！!的和在]|$|\s)"
)
_HONORIFIC = re.compile(rf"([{HAN}]{{1,4}}|[{KANA}ー]{{2,8}})(?:{'|'.join(JAPANESE_HONORIFICS)})")
_TIME_WORD = re.compile(
    "^(?:今日|明日|昨日|先日|今週|来週|先週|今月|来月|先月|今年|来年|去年|昨年|今朝|今晩|毎日|最近)"
)
_KATAKANA = re.compile(r"[\u30a1-\u30fa\u30fc・]{3,}")
_JAPANESE_NAME = re.compile(rf"(?:私は|名前は|僕は)([{HAN}]{{2,5}})(?:です|と申し|といい)")
_TAGS = {"nr": "person", "nrfg": "person", "nrt": "person", "ns": "place", "nt": "organization", "nz": "other"}
_NUMERIC = re.compile(rf"[{HAN}]*[一二三四五六七八九十百千万亿零两]+[{HAN}]?\Z")


def cjk_names(text: str) -> Iterator[Entity]:
    """Entities of the Han and kana parts of a text; nothing for other scripts."""
    if not is_han(text) and not is_kana(text):
        return
    japanese = bool(is_kana(text))
    for match in _INTRODUCED.finditer(text):
        yield Entity(match.group(1), match.group(1), "person")
    if japanese:
        yield from _japanese(text)
    yield from _tagged(text, japanese)


def cjk_runs(text: str) -> list[str]:
    """Words of two characters and more, and neighbouring words joined, as possible keys of a question."""
    words = [word for word in rjieba.cut(encodable(text)) if is_han(word) or is_kana(word)] if is_han(text) else []
    pairs = [first + second for first, second in pairwise(words)]
    return [run for run in (*words, *pairs, *_KATAKANA.findall(text)) if len(run) > 1]


def _japanese(text: str) -> Iterable[Entity]:
    for pattern, kind in ((_JAPANESE_NAME, "person"), (_HONORIFIC, "person")):
        for match in pattern.finditer(text):
            name = _TIME_WORD.sub("", match.group(1))
            if name:
                yield Entity(name, name, kind)
    for match in _KATAKANA.finditer(text):
        yield Entity(match.group(), match.group(), "other")


def _tagged(text: str, japanese: bool) -> Iterable[Entity]:
    """Proper nouns by the dictionary's tags; an organisation's mark joins the noun in front of it."""
    words: list[tuple[str, str]] = rjieba.tag(encodable(text))
    for index, (word, tag) in enumerate(words):
        following = words[index + 1][0] if index + 1 < len(words) else ""
        if tag in _TAGS and following in CHINESE_ORG_ENDS:
            yield Entity(word + following, word + following, "organization")
        elif len(word) >= 2 and (kind := _kind(word, tag, japanese)):
            yield Entity(word, word, kind)


def _kind(word: str, tag: str, japanese: bool) -> str | None:
    if not is_han(word) or _NUMERIC.match(word):
        return None
    if len(word) > 2 and word.endswith(CHINESE_ORG_ENDS):
        return "organization"
    if tag in _TAGS:
        if _TAGS[tag] == "person" and not japanese and not _surname(word):
            return None
        return _TAGS[tag]
    if len(word) > 2 and word.endswith(CHINESE_PLACE_ENDS) and tag.startswith("n"):
        return "place"
    return None


def _surname(word: str) -> bool:
    if len(word) == 2 and word[0] in "小老阿":  # "小王", as colleagues call each other
        return word[1] in CHINESE_SURNAMES
    return len(word) <= 4 and (word[0] in CHINESE_SURNAMES or word[:2] in CHINESE_SURNAMES)
