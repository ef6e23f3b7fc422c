"""Single memories read, changed and deleted; and many deleted by a filter. Every deletion leaves its history row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import ColumnElement, Connection, Select, func, insert, literal, select, text, update
from sqlalchemy.dialects.postgresql import insert as pg_insert

from core.adapters.sql.filter_sql import compile_sql
from core.adapters.sql.memory_store import memory_of, snapshot_of, values_of
from core.adapters.sql.tables import HistoryRow, MemoryRow, ProjectionRow
from core.domain.filters import Node
from core.domain.memory import Memory

_MEMORIES = MemoryRow.__table__  # type: ignore[attr-defined]
_HISTORY = HistoryRow.__table__  # type: ignore[attr-defined]
_PROJECTIONS = ProjectionRow.__table__  # type: ignore[attr-defined]
_COLUMNS = _MEMORIES.c
_UNCHANGING = ("id", "project_id", "scope_key", "user_id", "agent_id", "app_id", "run_id", "version")

_LINKED = text("""
WITH RECURSIVE chain AS (
  SELECT id FROM memories WHERE project_id = :project AND replaced_by = :id AND state <> 'deleted'
  UNION
  SELECT m.id FROM memories m JOIN chain c ON m.replaced_by = c.id
  WHERE m.project_id = :project AND m.state <> 'deleted'
) SELECT id FROM chain WHERE id <> :id ORDER BY id
""")
_KEEP_EARLIER = text("""
UPDATE history SET snapshot = CAST(:snapshot AS jsonb)
WHERE project_id = :project AND memory_id = :id AND version = :version AND event <> 'DELETE' AND snapshot IS NULL
""")
_UNLINK = text("DELETE FROM entity_links WHERE project_id = :project AND memory_id = ANY(:ids)")
_UNRELATE = text("DELETE FROM relations WHERE project_id = :project AND memory_id = ANY(:ids)")
_FORGET_HISTORY = text("DELETE FROM history WHERE project_id = :project AND memory_id = ANY(:ids)")
_FORGET = text("DELETE FROM memories WHERE project_id = :project AND id = ANY(:ids) AND state = 'deleted'")
_ORPHANS = text("""
DELETE FROM entities e WHERE e.project_id = :project AND e.scope_key = ANY(:scopes)
  AND NOT EXISTS (SELECT FROM entity_links l
                  WHERE l.project_id = e.project_id AND l.scope_key = e.scope_key AND l.key = e.key)
""")


class SqlMemoryChanges:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def read(self, project_id: UUID, memory_id: UUID) -> Memory | None:
        """Any memory that is not deleted: expired, superseded and merged ones too."""
        found = self.read_many(project_id, [memory_id])
        return found[0] if found else None

    def read_many(self, project_id: UUID, memory_ids: Sequence[UUID]) -> list[Memory]:
        statement = select(_MEMORIES).where(*_present(project_id, memory_ids))
        return [memory_of(row) for row in self._connection.execute(statement).mappings()]

    def lock(self, project_id: UUID, memory_ids: Sequence[UUID]) -> list[Memory]:
        """Those that are not deleted, locked until the transaction ends; in one order for all writers."""
        statement = select(_MEMORIES).where(*_present(project_id, memory_ids)).order_by(_COLUMNS.id)
        return [memory_of(row) for row in self._connection.execute(statement.with_for_update()).mappings()]

    def linked(self, project_id: UUID, memory_id: UUID) -> list[UUID]:
        """The older memories that this one replaced, directly or through others."""
        rows = self._connection.execute(_LINKED, {"project": project_id, "id": memory_id})
        return [row.id for row in rows]

    def write(self, memory: Memory) -> None:
        """Store the changed row under its next version; identity never changes."""
        values = {key: value for key, value in values_of(memory).items() if key not in _UNCHANGING}
        statement = (
            update(_MEMORIES)
            .where(_COLUMNS.project_id == memory.project_id, _COLUMNS.id == memory.id)
            .values(version=memory.version, **values)
        )
        self._connection.execute(statement)

    def unlink(self, project_id: UUID, memory_ids: Sequence[UUID]) -> None:
        """Forget which entities and relations these memories speak of."""
        params = {"project": project_id, "ids": list(memory_ids)}
        self._connection.execute(_UNLINK, params)
        self._connection.execute(_UNRELATE, params)

    def record_update(self, old: Memory, new: Memory, source: Sequence[dict[str, Any]] | None) -> None:
        """The history row of a change. The one before gets its snapshot now, if it was written without: that of
        an added memory is worth its space only once there is another version to come back from."""
        earlier = {"project": old.project_id, "id": old.id, "version": old.version}
        self._connection.execute(_KEEP_EARLIER, earlier | {"snapshot": orjson.dumps(snapshot_of(old)).decode()})
        values = {
            "project_id": new.project_id,
            "memory_id": new.id,
            "version": new.version,
            "event": "UPDATE",
            "old_memory": old.memory,
            "new_memory": new.memory,
            "input": list(source) if source else None,
            "snapshot": snapshot_of(new),
            "created_at": new.updated_at,
        }
        self._connection.execute(insert(_HISTORY).values(id=func.gen_random_uuid(), **values))

    def mark_deleted(self, project_id: UUID, where: Node, before_event: UUID | None = None) -> int:
        """Delete by filter: the rows' state, their history, their requests to the projector; one statement.

        `before_event` spares rows that events accepted later have stored. The neighbours that lose a part of
        their context are asked for again too. Returns the number of deleted memories.
        """
        chosen = [_COLUMNS.project_id == project_id, _COLUMNS.state != "deleted", compile_sql(where)]
        if before_event is not None:
            chosen.append(func.coalesce(_COLUMNS.source_event_id < before_event, True))
        gone = (
            update(_MEMORIES)
            .where(*chosen)
            .values(state="deleted", version=_COLUMNS.version + 1, updated_at=func.now())
            .returning(_COLUMNS.id, _COLUMNS.memory, _COLUMNS.version)
            .cte("gone")
        )
        told = insert(_HISTORY).from_select(_DELETION, _deletions(project_id, gone)).cte("told")
        asked = (
            pg_insert(_PROJECTIONS)
            .from_select(
                ["project_id", "memory_id", "requested_at", "attempts"],
                select(literal(project_id), gone.c.id, func.now(), literal(0)),
            )
            .on_conflict_do_update(index_elements=["project_id", "memory_id"], set_={"requested_at": func.now()})
            .cte("asked")
        )
        counted = select(func.count()).select_from(gone).add_cte(told, asked)
        return int(self._connection.execute(counted).scalar_one())

    def deleted(self, project_id: UUID, where: Node, limit: int) -> list[Memory]:
        """Deleted rows that still wait to be purged."""
        wanted = [_COLUMNS.project_id == project_id, _COLUMNS.state == "deleted", compile_sql(where)]
        statement = select(_MEMORIES).where(*wanted).order_by(_COLUMNS.id).limit(limit)
        return [memory_of(row) for row in self._connection.execute(statement).mappings()]

    def purge(self, project_id: UUID, memories: Sequence[Memory]) -> None:
        """Remove deleted rows with their history, links and relations, and entities that nothing names any more."""
        ids = [memory.id for memory in memories]
        params = {"project": project_id, "ids": ids}
        self.unlink(project_id, ids)
        self._connection.execute(_FORGET_HISTORY, params)
        self._connection.execute(_FORGET, params)
        scopes = sorted({memory.scope.key for memory in memories})
        self._connection.execute(_ORPHANS, {"project": project_id, "scopes": scopes})


def _present(project_id: UUID, memory_ids: Sequence[UUID]) -> list[ColumnElement[bool]]:
    return [_COLUMNS.project_id == project_id, _COLUMNS.id.in_(memory_ids), _COLUMNS.state != "deleted"]


_DELETION = ["id", "project_id", "memory_id", "version", "event", "old_memory", "created_at"]


def _deletions(project_id: UUID, gone: Any) -> Select[Any]:
    return select(
        func.gen_random_uuid(),
        literal(project_id),
        gone.c.id,
        gone.c.version,
        literal("DELETE"),
        gone.c.memory,
        func.now(),
    )
