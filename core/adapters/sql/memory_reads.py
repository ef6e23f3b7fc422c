"""Memories found by a filter: pages of a listing, and the ids that the index cannot find by itself."""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, and_, func, select, text, true
from sqlalchemy.sql.selectable import HasCTE

from core.adapters.sql.filter_sql import compile_sql
from core.adapters.sql.memory_store import KEPT, memory_of
from core.adapters.sql.tables import MemoryRow
from core.domain.filters import Node
from core.domain.memory import Memory
from core.domain.paging import Window

S = TypeVar("S", bound=HasCTE)
_MEMORIES = MemoryRow.__table__  # type: ignore[attr-defined]
_COLUMNS = _MEMORIES.c
# rows of one add share their time: the later message is the newer one
_NEWEST_FIRST = (_COLUMNS.created_at.desc(), _COLUMNS.position.desc(), _COLUMNS.id.desc())

# The table as it stood at an earlier time, under its own name: inside a WITH the name still means the real table,
# after it the earlier rows. What never changes comes from the row itself, so that filters on it still use indexes;
# the rest from the last version up to then (of a memory that was dated back, its first). Expiry is judged by date.
_VERSIONED = {*KEPT, "version"} - {"created_at"}
_THEN = text(f"""
SELECT {", ".join(f"{'t' if column.name in _VERSIONED else 'm'}.{column.name}" for column in _COLUMNS)}
FROM memories m
LEFT JOIN LATERAL (
  SELECT coalesce(h.snapshot, jsonb_build_object('memory', h.new_memory)) || jsonb_build_object('version', h.version)
    AS kept FROM history h
  WHERE h.project_id = m.project_id AND h.memory_id = m.id AND h.version < m.version AND h.new_memory IS NOT NULL
    AND NOT EXISTS (SELECT FROM history last WHERE last.project_id = m.project_id AND last.memory_id = m.id
                    AND last.version = m.version AND last.created_at <= :moment)
  ORDER BY h.created_at <= :moment DESC, CASE WHEN h.created_at <= :moment THEN -h.seq ELSE h.seq END LIMIT 1
) v ON true
CROSS JOIN LATERAL jsonb_populate_record(m, CASE WHEN coalesce(v.kept ->> 'state', m.state) = 'expired'
  THEN coalesce(v.kept, '{{}}') || '{{"state": "active"}}' ELSE coalesce(v.kept, '{{}}') END) t
WHERE m.project_id = :of_project AND m.state <> 'deleted' AND m.created_at <= :moment
""")


class SqlMemoryReads:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def measure(
        self, project_id: UUID, where: Node, until: int | None = None, as_of: datetime | None = None
    ) -> tuple[int, int]:
        """How many rows the filter selects, and the highest `stored_seq` among them (0 when none)."""
        highest = func.coalesce(func.max(_COLUMNS.stored_seq), 0)
        statement = select(func.count(), highest).where(_selected(project_id, where, until))
        count, last = self._connection.execute(_at(statement, project_id, as_of)).one()
        return int(count), int(last)

    def page(
        self,
        project_id: UUID,
        where: Node,
        window: Window,
        until: int | None = None,
        as_of: datetime | None = None,
    ) -> list[Memory]:
        """Newest first. With `until`, rows stored later than that `stored_seq` are left out. With `as_of`, the rows
        are those of that time, deleted ones left out, and the filter is held against them as they were."""
        statement = (
            select(_MEMORIES)
            .where(_selected(project_id, where, until))
            .order_by(*_NEWEST_FIRST)
            .offset(window.offset)
            .limit(window.size)
        )
        rows = self._connection.execute(_at(statement, project_id, as_of))
        return [memory_of(row) for row in rows.mappings()]

    def ids(self, project_id: UUID, where: Node) -> list[UUID]:
        """Every row that the filter selects, in any order, deleted ones left out."""
        statement = select(_COLUMNS.id).where(_selected(project_id, where), _COLUMNS.state != "deleted")
        return list(self._connection.execute(statement).scalars())


def _at(statement: S, project_id: UUID, as_of: datetime | None) -> S:
    """The statement over the table of an earlier time."""
    if as_of is None:
        return statement
    return statement.add_cte(_THEN.bindparams(of_project=project_id, moment=as_of).columns().cte("memories"))


def _selected(project_id: UUID, where: Node, until: int | None = None) -> ColumnElement[bool]:
    old_enough = true() if until is None else _COLUMNS.stored_seq <= until
    return and_(_COLUMNS.project_id == project_id, compile_sql(where), old_enough)
