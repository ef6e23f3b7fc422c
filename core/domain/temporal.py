"""How well a memory's time answers the time that a query asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

Span = tuple[date, date]  # first and last day, both inclusive

ASKS_WHEN = 0.6  # a memory that names a time, for a query that asks when but names none itself
SAID_THEN = 0.5  # the memory was said, not dated, at the time the query names
_SLACK = timedelta(days=14)  # beyond this distance (or one length of the span, where longer) nothing matches


@dataclass(frozen=True)
class TimeAsked:
    """What the query wants to know of time: days it names, or only "when"."""

    spans: tuple[Span, ...] = ()
    when: bool = False

    @property
    def any(self) -> bool:
        return self.when or bool(self.spans)


@dataclass(frozen=True)
class TimeTold:
    """What a memory tells of time: days it speaks of, and the day it was said."""

    spans: Sequence[Span] = ()
    said: date | None = None


NOTHING_TOLD = TimeTold()


def temporal_match(asked: TimeAsked, told: TimeTold) -> float:
    """0..1: 1 for a memory about a day that the query names, less for one near it or merely said then."""
    if asked.spans:
        about = max((_closeness(span, other) for span in asked.spans for other in told.spans), default=0.0)
        said = told.said
        then = max((_closeness(span, (said, said)) for span in asked.spans), default=0.0) if said else 0.0
        return max(about, SAID_THEN * then)
    return ASKS_WHEN if asked.when and told.spans else 0.0


def _closeness(asked: Span, told: Span) -> float:
    """1 where two spans overlap; falls to 0 over two weeks, or over the asked span's own length if longer."""
    if asked[0] <= told[1] and told[0] <= asked[1]:
        return 1.0
    gap = asked[0] - told[1] if told[1] < asked[0] else told[0] - asked[1]
    reach = max(_SLACK, asked[1] - asked[0])
    return max(0.0, 1.0 - gap / reach)
