"""An event as clients and webhooks see it, and times as the wire writes them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from core.domain.events import EventRecord


def instant(time: datetime) -> str:
    """ISO 8601 in UTC with microseconds: `2026-05-20T13:04:05.123456+00:00`."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def event_object(event: EventRecord) -> dict[str, Any]:
    """`error` is the catalogue's object of a failed or retrying event; `message` is its text."""
    rendered: dict[str, Any] = {
        "id": str(event.id),
        "event_type": event.event_type,
        "status": event.status,
        "payload": _payload(event),
        "results": list(event.results),
        "outcomes": list(event.outcomes),
        "reason": event.reason,
        **event.scope.as_dict(),
        "source": event.source,
        "created_at": instant(event.created_at),
        "updated_at": instant(event.updated_at),
        "started_at": instant(event.started_at) if event.started_at else None,
        "completed_at": instant(event.completed_at) if event.completed_at else None,
        "latency": latency_ms(event),
        "usage": event.usage | {"tries": event.tries, "crashes": event.crashes},
        "graph_status": None,
        "error": event.error,
    }
    if event.error:
        rendered["message"] = event.error.get("detail")
    if event.blocked:
        rendered["blocked_by"] = str(event.blocked.by)
        rendered["blocked_since"] = instant(event.blocked.since)
        rendered["blocked_until"] = instant(event.blocked.until)
    return rendered


def _payload(event: EventRecord) -> dict[str, Any] | None:
    """The request as it was sent, ids included; None once retention or erasure has removed it."""
    if event.payload is None:
        return None
    ids = {field: value for field, value in event.scope.as_dict().items() if value is not None}
    return {"metadata": None, **ids, **event.payload}


def latency_ms(event: EventRecord) -> float | None:
    """From accepting the request to its end; None while it is open."""
    if event.completed_at is None:
        return None
    return round((event.completed_at - event.created_at).total_seconds() * 1000, 3)
