"""Calendar arithmetic: days, weeks, months and years around a day, as a first and a last day."""

from __future__ import annotations

from calendar import monthrange
from datetime import date

Span = tuple[date, date]


def safe_date(year: int, month: int, day: int) -> date | None:
    """A date, or None for the 30th of February and its like."""
    if not (1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]):
        return None
    return date(year, month, day)


def shift_days(day: date, days: int) -> date | None:
    ordinal = day.toordinal() + days
    return date.fromordinal(ordinal) if 1 <= ordinal <= date.max.toordinal() else None


def shift_months(day: date, months: int) -> date | None:
    """The same day of another month, or that month's last day."""
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    if not 1 <= year <= 9999:
        return None
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def days_from(first: date | None, length: int) -> Span | None:
    last = first and shift_days(first, length - 1)
    return (first, last) if first and last else None


def month_span(year: int, month: int) -> Span | None:
    first = safe_date(year, month, 1)
    return (first, date(year, month, monthrange(year, month)[1])) if first else None


def year_span(year: int) -> Span | None:
    return (date(year, 1, 1), date(year, 12, 31)) if 1 <= year <= 9999 else None


def unit_span(today: date, unit: str | None, steps: int) -> Span | None:
    """The calendar day, week (Monday first), weekend, month or year `steps` from today's."""
    monday = shift_days(today, -today.weekday())
    if unit == "week" and monday:
        return days_from(shift_days(monday, 7 * steps), 7)
    if unit == "weekend" and monday:
        # On a weekend "this weekend" is today's, and "last weekend" the one before.
        return days_from(shift_days(monday, 5 + 7 * steps), 2)
    if unit == "month":
        moved = shift_months(today.replace(day=1), steps)
        return month_span(moved.year, moved.month) if moved else None
    if unit == "year":
        return year_span(today.year + steps)
    return days_from(shift_days(today, steps), 1) if unit == "day" else None


def moved_by(today: date, unit: str | None, n: int) -> Span | None:
    """What lies n units from today: a day, the days around a distant week, else a whole month or year."""
    if unit in ("hour", "minute"):
        return days_from(today, 1)
    if unit == "day":
        return days_from(shift_days(today, n), 1)
    if unit == "week":
        return (
            days_from(shift_days(today, 7 * n - 3), 7) if abs(n) > 1 else days_from(shift_days(today, 7 * n - 1), 3)
        )
    if unit == "month" and abs(n) <= 1:
        middle = shift_months(today, n)
        return days_from(middle and shift_days(middle, -7), 15)
    return unit_span(today, unit, n)
