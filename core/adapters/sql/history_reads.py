"""The history table as clients read it."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import Connection, RowMapping, text

from core.domain.history import HistoryEntry
from core.domain.scope import Scope

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


class SqlHistoryReads:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of_memory(self, project_id: UUID, memory_id: UUID) -> list[HistoryEntry]:
        """Oldest first."""
        params = {"project": project_id, "id": memory_id}
        return [_entry(row) for row in self._connection.execute(_OF_MEMORY, params).mappings()]

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
