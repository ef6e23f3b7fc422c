"""The history table as clients read it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, RowMapping, text

from core.adapters.sql.memory_store import as_it_was
from core.domain.history import HistoryEntry
from core.domain.memory import Memory
from core.domain.scope import Scope
from core.text.normalise import content_hash

_COLUMNS = """h.id, h.memory_id, h.version, h.event, h.old_memory, h.new_memory, h.input, h.snapshot, h.created_at,
 m.user_id, m.agent_id, m.app_id, m.run_id, m.categories, m.metadata"""
_OF_MEMORY = text(f"""
SELECT {_COLUMNS} FROM history h LEFT JOIN memories m ON m.id = h.memory_id AND m.project_id = h.project_id
WHERE h.project_id = :project AND h.memory_id = :id ORDER BY h.seq
""")
_COUNT = text("SELECT count(*) FROM history WHERE project_id = :project")
_PAGE = text(f"""
SELECT {_COLUMNS} FROM history h LEFT JOIN memories m ON m.id = h.memory_id AND m.project_id = h.project_id
WHERE h.project_id = :project ORDER BY h.seq DESC OFFSET :offset LIMIT :limit
""")
_VERSION = text("""
SELECT new_memory, snapshot FROM history
WHERE project_id = :project AND memory_id = :id AND version = :version AND event <> 'DELETE'
ORDER BY seq DESC LIMIT 1
""")
# the last text up to then; a memory whose creation was dated back has only later entries, and the first of them holds
_TEXTS_AT = text("""
SELECT DISTINCT ON (memory_id) memory_id, new_memory FROM history
WHERE project_id = :project AND memory_id = ANY(:ids) AND new_memory IS NOT NULL
ORDER BY memory_id, created_at <= :moment DESC, CASE WHEN created_at <= :moment THEN -seq ELSE seq END
""")


class SqlHistoryReads:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of_memory(self, project_id: UUID, memory_id: UUID) -> list[HistoryEntry]:
        """Oldest first."""
        params = {"project": project_id, "id": memory_id}
        return [_entry(row) for row in self._connection.execute(_OF_MEMORY, params).mappings()]

    def version(self, memory: Memory, version: int) -> Memory | None:
        """`memory` with the content and the standing it had in one of its versions; None when it had no such one.

        Of a version whose row kept no snapshot the text alone is known.
        """
        params = {"project": memory.project_id, "id": memory.id, "version": version}
        row = self._connection.execute(_VERSION, params).first()
        if row is None:
            return None
        return as_it_was(memory, row.snapshot or {"memory": row.new_memory, "hash": content_hash(row.new_memory)})

    def texts_at(self, project_id: UUID, ids: Sequence[UUID], moment: datetime) -> dict[UUID, str]:
        """The text each memory had at that time; memories without history are absent."""
        params = {"project": project_id, "ids": list(ids), "moment": moment}
        return {row.memory_id: row.new_memory for row in self._connection.execute(_TEXTS_AT, params)}

    def count(self, project_id: UUID) -> int:
        return int(self._connection.execute(_COUNT, {"project": project_id}).scalar_one())

    def page(self, project_id: UUID, offset: int, limit: int) -> list[HistoryEntry]:
        """Newest first."""
        params = {"project": project_id, "offset": offset, "limit": limit}
        return [_entry(row) for row in self._connection.execute(_PAGE, params).mappings()]


def _entry(row: RowMapping) -> HistoryEntry:
    """Metadata and categories as they were after the change where a snapshot tells, else as they are."""
    snapshot = row["snapshot"] or {}
    return HistoryEntry(
        id=row["id"],
        memory_id=row["memory_id"],
        version=row["version"],
        event=row["event"],
        old_memory=row["old_memory"],
        new_memory=row["new_memory"],
        input=row["input"] or (),
        scope=Scope.of(dict(row)),
        categories=snapshot.get("categories", row["categories"]),
        metadata=snapshot.get("metadata", row["metadata"]),
        created_at=row["created_at"],
    )
