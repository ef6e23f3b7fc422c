"""Operations: heartbeats, collections of the index, counts; seen across projects."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Connection, text

from core.adapters.sql.rebuild_store import by_role
from core.ports.stores.collections import IndexCollection
from core.ports.stores.operations import Backlog, Heartbeat

SCHEMA_REVISION = "0009"

_BEAT = text("""
INSERT INTO heartbeats (process, kind, info, started_at, seen_at)
VALUES (:process, :kind, CAST(:info AS jsonb), clock_timestamp(), clock_timestamp())
ON CONFLICT (process) DO UPDATE SET seen_at = excluded.seen_at, info = excluded.info
""")
_FORGET = text("DELETE FROM heartbeats WHERE process = :process")
_ALIVE = text("""
SELECT process, kind, info, started_at, seen_at FROM heartbeats
WHERE seen_at > now() - :seconds * interval '1 s' ORDER BY process
""")
_COLLECTIONS = text("SELECT * FROM index_collections")
_ADD_COLLECTION = text("""
INSERT INTO index_collections (name, role, embedding_model, dims, created_at)
VALUES (:name, :role, :model, :dims, now()) ON CONFLICT DO NOTHING
""")
_REVISION = text("SELECT version_num FROM alembic_version")
_OPEN_COUNT = text("""
SELECT count(*) FROM (SELECT 1 FROM events WHERE project_id = :project
  AND state IN ('accepted', 'claimed', 'retrying', 'committed') LIMIT :limit) open
""")
_ENDED = text("""
SELECT count(*) FROM events WHERE project_id = :project AND state IN ('projected', 'failed')
  AND completed_at > now() - :seconds * interval '1 s'
""")
_LAG = text("""
SELECT count(*) AS open, extract(epoch FROM now() - min(due_at)) AS oldest FROM events
WHERE state IN ('accepted', 'claimed', 'retrying', 'committed') AND due_at <= now()
""")


class SqlOpsStore:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def beat(self, process: str, kind: str, info: dict[str, Any]) -> None:
        """Note that a worker process is alive; `info` is shown by doctor and /readyz."""
        self._connection.execute(_BEAT, {"process": process, "kind": kind, "info": orjson.dumps(info).decode()})

    def forget(self, process: str) -> None:
        self._connection.execute(_FORGET, {"process": process})

    def alive(self, seconds: float) -> list[Heartbeat]:
        """Heartbeats not older than this."""
        return [Heartbeat(**row) for row in self._connection.execute(_ALIVE, {"seconds": seconds}).mappings()]

    def collections(self) -> dict[str, IndexCollection]:
        return by_role(self._connection.execute(_COLLECTIONS).mappings())

    def add_collection(self, name: str, role: str, model: str, dims: int) -> None:
        self._connection.execute(_ADD_COLLECTION, {"name": name, "role": role, "model": model, "dims": dims})

    def revision(self) -> str:
        """The migration that the database is at."""
        return str(self._connection.execute(_REVISION).scalar_one())

    def is_current(self) -> bool:
        """True when the schema is as new as this code needs, or newer (a rolling update)."""
        return self.revision() >= SCHEMA_REVISION

    def open_events(self, project_id: UUID, limit: int) -> int:
        """Open events of a project, counted up to `limit`."""
        return int(self._connection.execute(_OPEN_COUNT, {"project": project_id, "limit": limit}).scalar_one())

    def ended_events(self, project_id: UUID, seconds: float) -> int:
        """Events of a project that ended within the last `seconds`."""
        return int(self._connection.execute(_ENDED, {"project": project_id, "seconds": seconds}).scalar_one())

    def backlog(self) -> Backlog:
        """Due events of all projects, and the oldest one's waiting time in seconds."""
        row = self._connection.execute(_LAG).one()
        return Backlog(row.open, None if row.oldest is None else float(row.oldest))
