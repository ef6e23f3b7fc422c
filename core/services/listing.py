"""List memories by filter, page by page."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from core.domain.filter_scope import scoped
from core.domain.memory import Memory
from core.domain.narrowing import Narrowing, select
from core.domain.paging import Page, Window, require_page
from core.ports.database import Database, Transaction


@dataclass(frozen=True)
class ListQuery:
    """One page of a project's memories. `filters` as the caller sent them, `now` aware and in UTC.

    `strict` is the server's scope rule, which the project's setting `strict_scoping` overrides. `until` is the
    `until` of an earlier page: what was stored after that page was made is left out, so that pages do not shift.
    `as_of` (aware): the list as it was at that time, texts, metadata and standing included; what has been deleted or
    erased since stays gone.
    """

    project_id: UUID
    filters: object
    now: datetime
    narrowing: Narrowing = field(default_factory=Narrowing)
    window: Window = field(default_factory=Window)
    strict: bool = True
    until: int | None = None
    as_of: datetime | None = None


@dataclass(frozen=True)
class MemoryPage(Page[Memory]):
    """`until`: the last stored row that this listing knows of; hand it on to the next page."""

    until: int


def list_memories(database: Database, query: ListQuery) -> MemoryPage:
    """Newest first; `count` is over all pages.

    Raises MemlaneError: `filters_missing`, `filters_invalid`, `filters_unscoped`, `validation_failed`,
    `page_invalid` (a page behind the last one).
    """
    moment = (query.as_of or query.now).astimezone(UTC)
    selected = select(query.filters, query.narrowing, moment.date())
    with database.statements(query.project_id) as tx:
        where = scoped(selected, strict_scoping(tx, query.project_id, query.strict))
        count, last = tx.memory_reads.measure(query.project_id, where, query.until, query.as_of)
        require_page(query.window, count)
        until = last if query.until is None else query.until
        items = tx.memory_reads.page(query.project_id, where, query.window, until, query.as_of)
    return MemoryPage(items, count, query.window, until)


def strict_scoping(tx: Transaction, project_id: UUID, default: bool) -> bool:
    """The scope rule of this project: its own setting, else the server's."""
    project = tx.projects.project(project_id)
    own = project.settings.get("strict_scoping") if project else None
    return default if own is None else bool(own)
