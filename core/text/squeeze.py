"""Repetition taken out: text that says one thing a hundred times says it once."""

from __future__ import annotations

import re

_CHAR_RUN = re.compile(r"(.)\1{11,}", re.DOTALL)
_SHORT_CYCLE = re.compile(r"(\S{2,12}?)\1{7,}")
_DIGITS = re.compile(r"\d+")
_MAX_PERIOD = 60  # words
_MIN_REPEATS = 4


def squeeze(text: str) -> str:
    """The text with long runs of one character, and of one phrase of up to 60 words, cut to one copy.

    Numbers count as equal when a run is looked for ("row 1 row 2 row 3 …"). Short texts are left alone.
    Linear in the text's length times the longest period.
    """
    if len(text) < 60:
        return text
    text = _SHORT_CYCLE.sub(r"\1", _CHAR_RUN.sub(r"\1", text))
    return "".join(_without_cycles(re.findall(r"\s*\S+", text)))


def _without_cycles(words: list[str]) -> list[str]:
    """Short periods first: what they shorten costs the longer ones less."""
    for period in range(1, _MAX_PERIOD + 1):
        if period * _MIN_REPEATS > len(words):
            break
        words = _without_period(words, period)
    return words


def _without_period(words: list[str], period: int) -> list[str]:
    keys = [_DIGITS.sub("#", word.strip().casefold()) for word in words]
    dropped = [False] * len(words)
    run = 0
    for index in range(period, len(words)):
        run = run + 1 if keys[index] == keys[index - period] else 0
        if run == period * (_MIN_REPEATS - 1):
            dropped[index - run + 1 : index + 1] = [True] * run
        elif run > period * (_MIN_REPEATS - 1):
            dropped[index] = True
    return [word for word, drop in zip(words, dropped, strict=True) if not drop]
