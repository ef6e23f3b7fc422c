"""Numbers in a text, however they are written, as comparable decimal strings."""

from __future__ import annotations

import re

from core.text.lang.dates import CALENDARS
from core.text.lang.numbers import CHINESE_DIGITS, CHINESE_UNITS, ORDINALS, WEAK, WORDS
from core.text.normalise import fold
from core.text.remembered import remembered

_DIGITS = re.compile(r"\d+(?:[.,:/\-]\d+)*")
_GROUPS = re.compile(r"\d{1,3}(?:([.,])\d{3})+(?:[.,]\d{1,2})?\Z")
_DECIMAL = re.compile(r"\d+[.,]\d{1,2}\Z")
_ISO_MONTH = re.compile(r"\b(?:19|20)\d\d-(0[1-9]|1[0-2])\b")
_MONTHS = {name: month for calendar in CALENDARS.values() for name, month in calendar.months.items() if len(name) > 2}
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_CLOCK = re.compile(r"\b(\d{1,2})(?::(\d\d))?\s*([ap])\.?m\b")
_CHINESE = re.compile("[" + "".join(CHINESE_DIGITS) + "".join(CHINESE_UNITS) + "]+")
_CHINESE_COUNTED = re.compile(
    "[年月日号天周週個个次岁歲只隻匹人本杯台辆倍点點時时分秒块塊元円口条件名位度%層楼樓小級级カヶか]"
)
_SCALED = re.compile(r"(\d+(?:[.,]\d+)?)\s*(k|thousand|m|million|万|亿|億|千)\b")
_SCALE = {"k": 1000, "thousand": 1000, "千": 1000, "万": 10**4, "m": 10**6, "million": 10**6} | {
    "亿": 10**8,
    "億": 10**8,
}
_COMPOUND_DE = re.compile(r"(ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun)und(\w+ig|dreissig)\Z")


def numbers(text: str, *, strict: bool = True) -> set[str]:
    """Values of the numbers in a text, as decimal strings without leading zeros ("4.5", "12", "23:00" → "23").

    `strict` leaves out words that only may be a number ("one", German "ein"): use it for the claim, and
    `strict=False` for its source.
    """
    folded = fold(text)
    found: set[str] = set()
    for match in _DIGITS.finditer(folded):
        found |= _written(match.group())
    for hour, minute, half in _CLOCK.findall(folded):
        found |= {str(int(hour) % 12 + (12 if half == "p" else 0))} if not strict else set()
        found |= {str(int(minute))} if minute and not strict else set()
    if not strict:
        found |= {_plain(_value(amount) * _SCALE[scale]) for amount, scale in _SCALED.findall(folded)}
    for match in _WORD.finditer(folded):
        found |= _spelt(match.group(), strict)
    return found | _chinese(folded, strict)


@remembered(4096)  # the adds of a conversation share their sources
def months(text: str) -> frozenset[int]:
    """Months named in a text, 1 to 12: by name in English, German, Spanish or French, or in an ISO date.

    "may" and "march" count only with a capital, as they are verbs too.
    """
    found = {int(month) for month in _ISO_MONTH.findall(text)}
    for word in _WORD.findall(text):
        month = _MONTHS.get(word.casefold())
        if month is not None and (word[0].isupper() or word not in ("may", "march", "mars", "sept")):
            found.add(month)
    return frozenset(found)


def _value(written: str) -> float:
    return float(written.replace(",", "."))


def _plain(value: float) -> str:
    return str(int(value)) if value == int(value) else str(round(value, 6))


def _written(written: str) -> set[str]:
    """One run of digits and separators: a grouped number, a decimal, or several numbers (dates, ids, times)."""
    groups = _GROUPS.match(written)
    if groups:
        return {_plain(float(_ungrouped(written, groups.group(1))))}
    if _DECIMAL.match(written):
        return {_plain(_value(written))}
    return {_plain(int(part)) for part in re.split(r"[.,:/\-]", written) if part}


def _ungrouped(written: str, separator: str) -> str:
    return written.replace(separator, "").replace(",", ".")


def _spelt(word: str, strict: bool) -> set[str]:
    if strict and word in WEAK:
        return set()
    if word in WORDS:
        return {str(WORDS[word])}
    ordinal = ORDINALS.get(word) or ORDINALS.get(word[:-1]) or ORDINALS.get(f"{word[:-1]}o")
    if ordinal is not None:
        return set() if strict else {str(ordinal)}
    tens, _, unit = word.partition("-")
    if unit in WORDS and tens in WORDS:
        return {str(WORDS[tens] + WORDS[unit])}
    german = _COMPOUND_DE.match(word)
    if german and german.group(2).replace("dreissig", "dreissig") in WORDS:
        return {str(WORDS["eins" if german.group(1) == "ein" else german.group(1)] + WORDS[german.group(2)])}
    return set()


def _chinese(folded: str, strict: bool) -> set[str]:
    found: set[str] = set()
    for match in _CHINESE.finditer(folded):
        run = match.group()
        counted = _CHINESE_COUNTED.match(folded, match.end())
        value = chinese_value(run)
        certain = value != 1 and (counted or (len(run) > 1 and run != "万一"))
        if value is not None and (certain or not strict):
            found.add(str(value))
    return found


def chinese_value(run: str) -> int | None:
    """ "二十三" → 23, "一百零五" → 105, "二〇二六" → 2026; None when the run is no number ("千万")."""
    if all(char in CHINESE_DIGITS for char in run):
        return int("".join(str(CHINESE_DIGITS[char]) for char in run))
    total, section, digit = 0, 0, 0
    if not any(char in CHINESE_DIGITS for char in run) and run[0] != "十":
        return None
    for char in run:
        if char in CHINESE_DIGITS:
            digit = CHINESE_DIGITS[char]
            continue
        unit = CHINESE_UNITS[char]
        if unit >= 10_000:
            total, section, digit = total + (section + digit) * unit, 0, 0
        else:
            section, digit = section + (digit or 1) * unit, 0
    return total + section + digit
