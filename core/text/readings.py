"""What a date expression, once read, means: its kind and parts to a first and a last day."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from core.text.spans import (
    Span,
    days_from,
    month_span,
    moved_by,
    safe_date,
    shift_days,
    shift_months,
    unit_span,
    year_span,
)


@dataclass(frozen=True)
class Reading:
    """The parts of one expression. `past`, `future`: the text is told in that tense."""

    n: int | None = None
    unit: str | None = None
    weekday: int | None = None
    month: int | None = None
    day: int | None = None
    year: int | None = None
    season: int | None = None
    holiday: tuple[int, int] | None = None
    offset: int | None = None
    rel: str | None = None
    past: bool = False
    future: bool = False


def _ago(reading: Reading, today: date) -> Span | None:
    return None if reading.n is None else moved_by(today, reading.unit, -reading.n)


def _ahead(reading: Reading, today: date) -> Span | None:
    return None if reading.n is None else moved_by(today, reading.unit, reading.n)


def _day(reading: Reading, today: date) -> Span | None:
    return None if reading.offset is None else days_from(shift_days(today, reading.offset), 1)


def _step(steps: int, unit: str | None = None) -> Callable[[Reading, date], Span | None]:
    return lambda reading, today: unit_span(today, unit or reading.unit, steps)


def _weekday(weeks: int | None) -> Callable[[Reading, date], Span | None]:
    """-1: the last one before today; 0: this week's; 1: next week's; 2: the first to come; None: by the tense."""

    def resolve(reading: Reading, today: date) -> Span | None:
        if reading.weekday is None:
            return None
        back = (today.weekday() - reading.weekday) % 7
        if weeks == -1 or (weeks is None and reading.past):
            return days_from(shift_days(today, -(back or 7)), 1)
        if weeks == 1:
            return days_from(shift_days(today, 7 - today.weekday() + reading.weekday), 1)
        if weeks == 0:
            return days_from(shift_days(today, reading.weekday - today.weekday()), 1)
        return days_from(shift_days(today, (7 - back) % 7), 1)

    return resolve


def _nearest_year(today: date, month: int, reading: Reading) -> int:
    """The year of a month named without one: the nearest, the latest past one, or the first to come, by tense."""
    if reading.past:
        return today.year if month <= today.month else today.year - 1
    if reading.future:
        return today.year if month >= today.month else today.year + 1
    distance = month - today.month
    return today.year + (1 if distance < -6 else -1 if distance > 6 else 0)


def _date(reading: Reading, today: date) -> Span | None:
    if reading.month is None or reading.day is None:
        return None
    year = reading.year or _nearest_year(today, reading.month, reading)
    return days_from(safe_date(year, reading.month, reading.day), 1)


def _month(reading: Reading, today: date) -> Span | None:
    if reading.month is None:
        return None
    return month_span(reading.year or _nearest_year(today, reading.month, reading), reading.month)


def _other_month(step: int) -> Callable[[Reading, date], Span | None]:
    """ "Last May": the latest May that is over; "next May": the first one to come."""

    def resolve(reading: Reading, today: date) -> Span | None:
        if reading.month is None:
            return None
        if step < 0:
            return month_span(today.year if reading.month < today.month else today.year - 1, reading.month)
        return month_span(today.year if reading.month > today.month else today.year + 1, reading.month)

    return resolve


def _season(step: int) -> Callable[[Reading, date], Span | None]:
    def resolve(reading: Reading, today: date) -> Span | None:
        if reading.season is None:
            return None
        year = today.year + (1 if step > 0 else 0)
        first = safe_date(year, reading.season, 1)
        if step < 0 and first and first + timedelta(days=90) > today:
            first = safe_date(year - 1, reading.season, 1)
        last = first and shift_months(first, 3)
        return (first, last - timedelta(days=1)) if first and last else None

    return resolve


def _holiday(reading: Reading, today: date) -> Span | None:
    if reading.holiday is None:
        return None
    month, day = reading.holiday
    return days_from(safe_date(_nearest_year(today, month, reading), month, day), 1)


def _half_year_ago(reading: Reading, today: date) -> Span | None:
    middle = shift_months(today, -6)
    return month_span(middle.year, middle.month) if middle else None


def _weekend(reading: Reading, today: date) -> Span | None:
    """ "Over the weekend": the one before when told in the past, unless it is the weekend now."""
    return unit_span(today, "weekend", -1 if reading.past and today.weekday() < 5 else 0)


def _coming(reading: Reading, today: date) -> Span | None:
    """ "In the next few months": from today on."""
    ahead = _ahead(reading, today)
    return (today, ahead[1]) if ahead and ahead[1] >= today else None


_REL_YEARS = {"去年": -1, "昨年": -1, "今年": 0, "明年": 1, "来年": 1, "前年": -2, "一昨年": -2}


def _rel_year_date(reading: Reading, today: date) -> Span | None:
    if reading.month is None or reading.rel is None:
        return None
    year = today.year + _REL_YEARS[reading.rel]
    return (
        month_span(year, reading.month)
        if reading.day is None
        else days_from(safe_date(year, reading.month, reading.day), 1)
    )


def _year(reading: Reading, today: date) -> Span | None:
    return None if reading.year is None else year_span(reading.year)


def _span(reading: Reading, today: date) -> Span | None:
    """A duration that reaches to the present: "for four years"."""
    if reading.n is None or reading.unit in (None, "hour", "minute", "weekend"):
        return None
    months = {"month": 1, "year": 12}.get(reading.unit or "")
    days = {"day": 1, "week": 7}.get(reading.unit or "", 0)
    first = shift_months(today, -reading.n * months) if months else shift_days(today, -reading.n * days)
    return (first, today) if first else None


RESOLVERS: dict[str, Callable[[Reading, date], Span | None]] = {
    "day": _day,
    "ago": _ago,
    "ahead": _ahead,
    "last": _step(-1),
    "this": _step(0),
    "next": _step(1),
    "last_week": _step(-1, "week"),
    "this_week": _step(0, "week"),
    "next_week": _step(1, "week"),
    "week_before": _step(-2, "week"),
    "last_weekend": _step(-1, "weekend"),
    "this_weekend": _step(0, "weekend"),
    "last_month_unit": _step(-1, "month"),
    "this_month_unit": _step(0, "month"),
    "next_month_unit": _step(1, "month"),
    "last_year": _step(-1, "year"),
    "this_year": _step(0, "year"),
    "next_year": _step(1, "year"),
    "year_before": _step(-2, "year"),
    "last_weekday": _weekday(-1),
    "this_weekday": _weekday(0),
    "next_weekday": _weekday(1),
    "on_weekday": _weekday(None),
    "coming_weekday": _weekday(2),
    "date": _date,
    "rel_year_date": _rel_year_date,
    "month": _month,
    "last_month": _other_month(-1),
    "next_month": _other_month(1),
    "last_season": _season(-1),
    "this_season": _season(0),
    "next_season": _season(1),
    "year": _year,
    "span": _span,
    "holiday": _holiday,
    "half_year_ago": _half_year_ago,
    "weekend": _weekend,
    "coming": _coming,
}
