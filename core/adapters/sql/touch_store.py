"""When memories were found (decay)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, text

from core.domain.decay import KEPT_TOUCHES

_OF = text("SELECT memory_id, at FROM touches WHERE project_id = :project AND memory_id = ANY(:ids)")
# sorted, so that two searches that find the same memories never wait for each other in a ring; a memory that was
# purged since it was found is left out
_TOUCH = text(f"""
INSERT INTO touches (project_id, memory_id, at)
SELECT :project, m.id, ARRAY[CAST(:now AS timestamptz)] FROM memories m
WHERE m.project_id = :project AND m.id = ANY(:ids) ORDER BY m.id
ON CONFLICT (project_id, memory_id) DO UPDATE SET at = (excluded.at || touches.at)[1:{KEPT_TOUCHES}]
""")


class SqlTouchStore:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of(self, project_id: UUID, ids: Sequence[UUID]) -> dict[UUID, list[datetime]]:
        """Newest first; a memory that was never found is absent."""
        params = {"project": project_id, "ids": list(ids)}
        return {row.memory_id: row.at for row in self._connection.execute(_OF, params)}

    def touch(self, project_id: UUID, ids: Sequence[UUID], now: datetime) -> None:
        if ids:
            self._connection.execute(_TOUCH, {"project": project_id, "ids": list(ids), "now": now})
