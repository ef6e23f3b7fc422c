"""What a stored text looks like to the ranking: is it a question, and of which days does it speak?"""

from __future__ import annotations

from datetime import date, datetime

from core.domain.temporal import Span
from core.text.dates import mentions
from core.text.remembered import remembered


def ends_in_question(text: str) -> bool:
    """The last sentence asks; what stands in brackets behind it ("… [image: a red bicycle]") does not count."""
    rest = text.rstrip()
    while rest.endswith("]") and "[" in rest:
        rest = rest[: rest.rindex("[")].rstrip()
    return rest.endswith(("?", "？"))


@remembered(16384)
def days_told(text: str, said_at: datetime, event_date: date | None) -> tuple[Span, ...]:
    """The days a memory speaks of: its event date, and every date expression as meant when it was said."""
    spans = [(found.start, found.end) for found in mentions(text, said_at)]
    if event_date is not None:
        spans.append((event_date, event_date))
    return tuple(dict.fromkeys(spans))
