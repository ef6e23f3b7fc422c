"""Memories found by a filter: pages of a listing, and the ids that the index cannot find by itself."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import ColumnElement, Connection, and_, func, select, true

from core.adapters.sql.filter_sql import compile_sql
from core.adapters.sql.memory_store import memory_of
from core.adapters.sql.tables import MemoryRow
from core.domain.filters import Node
from core.domain.memory import Memory
from core.domain.paging import Window

_MEMORIES = MemoryRow.__table__  # type: ignore[attr-defined]
_COLUMNS = _MEMORIES.c
# rows of one add share their time: the later message is the newer one
_NEWEST_FIRST = (_COLUMNS.created_at.desc(), _COLUMNS.position.desc(), _COLUMNS.id.desc())


class SqlMemoryReads:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def measure(self, project_id: UUID, where: Node, until: int | None = None) -> tuple[int, int]:
        """How many rows the filter selects, and the highest `stored_seq` among them (0 when none)."""
        highest = func.coalesce(func.max(_COLUMNS.stored_seq), 0)
        statement = select(func.count(), highest).where(_selected(project_id, where, until))
        count, last = self._connection.execute(statement).one()
        return int(count), int(last)

    def page(self, project_id: UUID, where: Node, window: Window, until: int | None = None) -> list[Memory]:
        """Newest first. With `until`, rows stored later than that `stored_seq` are left out."""
        statement = (
            select(_MEMORIES)
            .where(_selected(project_id, where, until))
            .order_by(*_NEWEST_FIRST)
            .offset(window.offset)
            .limit(window.size)
        )
        return [memory_of(row) for row in self._connection.execute(statement).mappings()]

    def ids(self, project_id: UUID, where: Node) -> list[UUID]:
        """Every row that the filter selects, in any order, deleted ones left out."""
        statement = select(_COLUMNS.id).where(_selected(project_id, where), _COLUMNS.state != "deleted")
        return list(self._connection.execute(statement).scalars())


def _selected(project_id: UUID, where: Node, until: int | None = None) -> ColumnElement[bool]:
    old_enough = true() if until is None else _COLUMNS.stored_seq <= until
    return and_(_COLUMNS.project_id == project_id, compile_sql(where), old_enough)
