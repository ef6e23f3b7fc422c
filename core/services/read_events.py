"""Events as the caller sees them: one, or a page of them."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from core.domain.errors import MemlaneError
from core.domain.events import EventFilter, EventRecord
from core.domain.ids import parse_id
from core.domain.paging import Page, Window, require_page
from core.ports.database import Database


def read_event(database: Database, project_id: UUID, event_id: str) -> EventRecord:
    """Raises MemlaneError("event_not_found"), alike for unknown ids, other projects' ids and what is no id."""
    id_ = parse_id(event_id)
    if id_ is None:
        raise MemlaneError("event_not_found")
    with database.statements(project_id) as tx:
        event = tx.event_reads.one(project_id, id_)
        if event is None:
            raise MemlaneError("event_not_found")
        return event if event.ended else replace(event, blocked=tx.event_reads.blocked(project_id, event))


def list_events(database: Database, project_id: UUID, narrowed: EventFilter, window: Window) -> Page[EventRecord]:
    """Newest first. Raises MemlaneError("page_invalid")."""
    with database.statements(project_id) as tx:
        count = tx.event_reads.count(project_id, narrowed)
        require_page(window, count)
        return Page(tx.event_reads.page(project_id, narrowed, window.offset, window.size), count, window)
