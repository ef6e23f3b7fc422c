"""The shape of a language's date table: names, units, and templates of expressions.

In a template `{n}` is a number or number word, `{weekday_name}` a weekday not abbreviated, `{unit}`,
`{weekday}`, `{month}`, `{day}`, `{year}` and `{season}`
are what they say, and a blank is any white space. The longest match wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Calendar:
    """One language. Values: months 1 to 12, weekdays 0 (Monday) to 6, days as offsets, numbers as integers."""

    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    units: Mapping[str, str]  # name → day | week | month | year | weekend | hour | minute
    days: Mapping[str, int]
    numbers: Mapping[str, int]
    templates: Mapping[str, tuple[str, ...]]  # kind → templates, see core.text.dates
    seasons: Mapping[str, int] = field(default_factory=dict)  # name → first month (northern hemisphere)
    holidays: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # name → month and day, the fixed ones
    past: str = ""  # regular expression of a past tense, to decide which Friday "on Friday" is
    future: str = ""  # and of a future one, for the year of "on May 7th"
    spaced: bool = True


def numbered(names: str, first: int) -> dict[str, int]:
    """Positions of a list; alternatives of one position are joined by "/"."""
    return {
        name.replace("_", " "): position
        for position, group in enumerate(names.split(), first)
        for name in group.split("/")
    }


def seasons(names: str) -> dict[str, int]:
    return {name: position * 3 + 3 for name, position in numbered(names, 0).items()}


def units(**names: str) -> dict[str, str]:
    return {name: unit for unit, listed in names.items() for name in listed.split()}
