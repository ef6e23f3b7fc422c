"""Dates in a text: absolute, relative and durations, in English, German, Spanish, French, Chinese and Japanese.

Tables and templates are in `core.text.lang.dates`; their meaning is in `core.text.readings`. A text is first
asked for
a word that any date expression needs, so that most texts cost next to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache

from core.text.lang.calendar import Calendar
from core.text.lang.dates import CALENDARS
from core.text.readings import RESOLVERS, Reading
from core.text.scripts import is_han, is_kana
from core.text.spans import safe_date


@dataclass(frozen=True)
class DateMention:
    """A stretch of text that names a time. `start` and `end` are its first and last day, both inclusive.

    `relative`: only the time of speaking tells which days are meant ("yesterday", but not "May 7th").
    """

    text: str
    start: date
    end: date
    span: tuple[int, int]
    relative: bool = False


_ABSOLUTE = frozenset({"date", "month", "year", "holiday"})
# "Every Friday" is no day.
_RECURRING = re.compile(
    r"(?:\b(?:every|each|most|jede[nrsm]?|cada|todos los|todas las|chaque|tous les|toutes les)\s+|[每毎])$",
    re.IGNORECASE,
)
_COLON = re.compile(r"\[\w+[:：]|(?P<border>[:;]\s|[：；])")  # not that of "[image: …]"
CLAUSE_WORDS = 4  # words from which a clause has a tense of its own
_WORD = re.compile(r"[^\W\d_]+|\d")
_ISO = re.compile(r"(?<![\d/.\-])((?:19|20)\d\d)[-/.](\d{1,2})[-/.](\d{1,2})(?![\d/.\-]*\d)")
_SHORT = re.compile(r"(?<![\d/.\-])(\d{1,2})([/.\-])(\d{1,2})\2((?:19|20)\d\d|\d\d)(?![\d/.\-]*\d)")


def mentions(text: str, relative_to: datetime) -> list[DateMention]:
    """Every date expression, in order, longest first where they overlap; relative ones are from `relative_to`."""
    today = relative_to.date()
    found = [*_numeric(text)]
    for code in _languages(text):
        found.extend(_expressions(text, today, code))
    return _without_overlaps(found)


def _languages(text: str) -> list[str]:
    """Languages whose trigger words occur; digits alone trigger nothing but the numeric forms."""
    codes: list[str] = []
    if is_han(text) or is_kana(text):
        codes = ["ja"] if is_kana(text) else ["zh", "ja"]  # "来月" is Japanese without a kana
    seen = set(_WORD.findall(text.casefold()))
    return [*codes, *(code for code, triggers in _triggers().items() if not triggers.isdisjoint(seen))]


@lru_cache(maxsize=1)
def _triggers() -> Mapping[str, frozenset[str]]:
    """Words of which each expression of a spaced language holds at least one."""
    years = frozenset({"in", "since", "by", "from", "until", "around", "back", "of"})
    return {
        code: frozenset(
            part
            for table in (
                calendar.months,
                calendar.weekdays,
                calendar.units,
                calendar.days,
                calendar.seasons,
                calendar.holidays,
            )
            for name in table
            for part in _WORD.findall(name)[-1:]
        )
        | ({"seit", "jahr", "desde", "depuis", "en"} if code != "en" else years)
        for code, calendar in CALENDARS.items()
        if calendar.spaced
    }


def _numeric(text: str) -> Iterator[DateMention]:
    """2026-05-20, 20.05.2026, 5/20/2026: with slashes the American order, unless it cannot be."""
    if not any(char.isdigit() for char in text):
        return
    for match in _ISO.finditer(text):
        day = safe_date(int(match[1]), int(match[2]), int(match[3]))
        if day:
            yield DateMention(match.group(), day, day, match.span())
    for match in _SHORT.finditer(text):
        first, second, year = int(match[1]), int(match[3]), int(match[4])
        year += 2000 if year < 100 else 0
        american = match[2] == "/" and first <= 12
        day = safe_date(year, first, second) if american else safe_date(year, second, first)
        if day:
            yield DateMention(match.group(), day, day, match.span())


def _expressions(text: str, today: date, code: str) -> Iterator[DateMention]:
    calendar = CALENDARS[code]
    for kind, pattern in _patterns(code):
        for match in pattern.finditer(text):
            if _RECURRING.search(text[max(0, match.start() - 12) : match.start()]):
                continue
            told = _clause(text, match.span())
            past, future = (
                bool(tense and re.search(tense, told, re.IGNORECASE)) for tense in (calendar.past, calendar.future)
            )
            reading = _read(match, calendar, past=past, future=future and not past)
            resolved = RESOLVERS[kind](reading, today)
            if resolved is not None:
                yield DateMention(match.group(), *resolved, match.span(), relative=kind not in _ABSOLUTE)


def _clause(text: str, span: tuple[int, int]) -> str:
    """Where the tense of an expression is looked for: between colons, unless hardly a word stands there.

    "I mixed that up: my flight leaves on Friday" speaks of the Friday to come.
    """
    borders = [found.span() for found in _COLON.finditer(text) if found["border"]]
    start = max((end for _, end in borders if end <= span[0]), default=0)
    end = min((begin for begin, _ in borders if begin >= span[1]), default=len(text))
    clause = text[start:end]
    return clause if len(_WORD.findall(clause)) >= CLAUSE_WORDS else text


def _read(match: re.Match[str], calendar: Calendar, *, past: bool, future: bool) -> Reading:
    """The values of a match's parts, by the language's tables."""
    parts = {name: value.casefold() for name, value in match.groupdict().items() if value}
    number = parts.get("n")
    return Reading(
        n=None if number is None else _number(number, calendar),
        unit=calendar.units.get(parts.get("unit", "")),
        weekday=calendar.weekdays.get(parts.get("weekday", "")),
        month=calendar.months.get(parts["month"]) if "month" in parts else _integer(parts.get("cjkmonth"), calendar),
        day=_integer(parts.get("day") or parts.get("cjkday"), calendar),
        year=_integer(parts.get("year"), calendar),
        season=calendar.seasons.get(parts.get("season", "")),
        holiday=calendar.holidays.get(parts.get("holiday", "").replace("’", "'")),
        offset=calendar.days.get(re.sub(r"\s+", " ", parts["phrase"])) if "phrase" in parts else None,
        rel=parts.get("rel"),
        past=past,
        future=future,
    )


def _number(written: str, calendar: Calendar) -> int | None:
    written = re.sub(r"\s+", " ", written)
    return int(written) if written.isdecimal() else calendar.numbers.get(written)


def _integer(written: str | None, calendar: Calendar) -> int | None:
    return None if written is None else _number(written, calendar)


@lru_cache(maxsize=8)
def _patterns(code: str) -> list[tuple[str, re.Pattern[str]]]:
    calendar = CALENDARS[code]
    parts = {
        "n": rf"(?P<n>\d{{1,3}}|{_names(calendar.numbers)})",
        "unit": f"(?P<unit>{_names(calendar.units)})",
        "weekday": f"(?P<weekday>{_names(calendar.weekdays)})",
        "weekday_name": f"(?P<weekday>{_names([name for name in calendar.weekdays if len(name) > 3])})",
        "month": f"(?P<month>{_names(calendar.months)})",
        "holiday": f"(?P<holiday>{_names(calendar.holidays)})",
        "season": f"(?P<season>{_names(calendar.seasons)})",
        "day": r"(?P<day>[0-3]?\d)",
        "year": r"(?P<year>(?:19|20)\d\d)",
        "cjkmonth": "(?P<cjkmonth>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])",
        "cjkday": r"(?P<cjkday>[0-3]?\d)",
    }
    listed = [("day", _bounded(f"(?P<phrase>{_names(calendar.days)})", calendar))]
    for kind, templates in calendar.templates.items():
        for template in templates:
            source = re.sub(r"\{(\w+)\}", lambda match: parts[match[1]], template)
            listed.append((kind, _bounded(source, calendar)))
    return listed


def _names(table: Collection[str]) -> str:
    """An alternation, longest first; an empty table matches nothing."""
    return "|".join(re.escape(name) for name in sorted(table, key=len, reverse=True)).replace("\\ ", " ") or "(?!)"


def _bounded(source: str, calendar: Calendar) -> re.Pattern[str]:
    if not calendar.spaced:
        return re.compile(source)
    return re.compile(rf"(?<![\w\-])(?:{source.replace(' ', chr(92) + 's+')})(?![\w])", re.IGNORECASE)


def _without_overlaps(found: list[DateMention]) -> list[DateMention]:
    found.sort(key=lambda mention: (mention.span[0] - mention.span[1], mention.span[0]))
    kept: list[DateMention] = []
    for mention in found:
        if all(mention.span[1] <= other.span[0] or mention.span[0] >= other.span[1] for other in kept):
            kept.append(mention)
    return sorted(kept, key=lambda mention: mention.span)
