"""The projections table: which memories the index does not reflect yet."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Connection

from core.adapters.sql.statement import Statement
from core.domain.work import Version

_REQUEST = Statement("""
INSERT INTO projections (project_id, memory_id, requested_at)
SELECT :project, id, now() FROM unnest(CAST(:ids AS uuid[])) AS wanted(id) ORDER BY id
ON CONFLICT (project_id, memory_id) DO UPDATE SET requested_at = excluded.requested_at
""")
_REQUEST_ALL = Statement("""
INSERT INTO projections (project_id, memory_id, requested_at)
SELECT project_id, id, now() FROM memories WHERE state <> 'deleted' ORDER BY id
ON CONFLICT (project_id, memory_id) DO UPDATE SET requested_at = excluded.requested_at
""")
_LOCK = Statement("""
SELECT memory_id FROM projections WHERE project_id = :project AND memory_id = ANY(:ids)
ORDER BY memory_id FOR UPDATE
""")
# What was told to wait for these memories is due now: they are searchable.
_DONE = Statement("""
WITH shown AS (
  DELETE FROM projections WHERE project_id = :project AND memory_id = ANY(:ids)
), due AS (
  UPDATE deliveries SET due_at = now()
  WHERE project_id = :project AND memory_id = ANY(:ids) AND state = 'waiting' AND due_at IS NULL RETURNING id
)
SELECT count(*) FROM due
""")
_VERSIONS = Statement("""
SELECT id, version, updated_at, state FROM memories WHERE project_id = :project AND id = ANY(:ids)
""")
_PENDING = Statement("""
SELECT project_id, memory_id FROM projections
WHERE requested_at <= now() - :older * interval '1 s' ORDER BY requested_at LIMIT :limit
""")


class SqlProjectionStore:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def request(self, project_id: UUID, memory_ids: Sequence[UUID]) -> None:
        """Note, in the transaction of the change itself, that these memories have to be projected."""
        if memory_ids:
            _REQUEST.run(self._connection, {"project": project_id, "ids": list(memory_ids)})

    def request_all(self) -> int:
        """The same for every memory of every project (operations role); returns how many."""
        return _REQUEST_ALL.run(self._connection, {})

    def lock(self, project_id: UUID, memory_ids: Sequence[UUID]) -> list[UUID]:
        """The ones still waiting among these; their rows stay locked until the transaction ends."""
        rows = _LOCK.rows(self._connection, {"project": project_id, "ids": list(memory_ids)})
        return [row.memory_id for row in rows]

    def versions(self, project_id: UUID, memory_ids: Sequence[UUID]) -> dict[UUID, Version]:
        rows = _VERSIONS.rows(self._connection, {"project": project_id, "ids": list(memory_ids)})
        return {row.id: Version(row.version, row.updated_at, row.state) for row in rows}

    def done(self, project_id: UUID, memory_ids: Sequence[UUID]) -> int:
        """The index shows these memories; returns how many webhook deliveries became due with that."""
        params = {"project": project_id, "ids": list(memory_ids)}
        return int(_DONE.scalar(self._connection, params))

    def pending(self, older_than: float, limit: int) -> list[tuple[UUID, UUID]]:
        """(project, memory) of the oldest requests, of all projects (operations role)."""
        rows = _PENDING.rows(self._connection, {"older": older_than, "limit": limit})
        return [(row.project_id, row.memory_id) for row in rows]
