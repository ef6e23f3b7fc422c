"""The categorizations table: which memories wait for their categories to be found again."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import orjson
from sqlalchemy import Connection, text

from core.ports.stores.upkeep import Uncategorized

_REQUEST = text("""
INSERT INTO categorizations (project_id, memory_id, version, requested_at, due_at)
VALUES (:project, :id, :version, now(), now())
ON CONFLICT (project_id, memory_id) DO UPDATE
SET version = excluded.version, requested_at = now(), due_at = now(), tries = 0
""")
_CLAIM = text("""
UPDATE categorizations c SET due_at = now() + :seconds * interval '1 s', tries = tries + 1
FROM (SELECT project_id, memory_id FROM categorizations WHERE due_at <= now()
      ORDER BY due_at LIMIT :limit FOR UPDATE SKIP LOCKED) due
WHERE c.project_id = due.project_id AND c.memory_id = due.memory_id
RETURNING c.project_id, c.memory_id, c.version, c.tries, extract(epoch FROM now() - c.requested_at) AS age
""")
_LATER = text("""
UPDATE categorizations SET due_at = now() + :seconds * interval '1 s'
WHERE project_id = :project AND memory_id = :id AND version = :version
""")
_DONE = text("DELETE FROM categorizations WHERE project_id = :project AND memory_id = :id AND version = :version")
_STORE = text("""
UPDATE memories SET categories = :categories
WHERE project_id = :project AND id = :id AND version = :version AND state <> 'deleted'
""")
_REMEMBER = text("""
UPDATE history SET snapshot = snapshot || CAST(:kept AS jsonb)
WHERE project_id = :project AND memory_id = :id AND version = :version AND snapshot IS NOT NULL
""")


class SqlCategorizationStore:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def request(self, project_id: UUID, memory_id: UUID, version: int) -> None:
        """Note, in the transaction of the change itself, that this version's categories are to be found."""
        self._connection.execute(_REQUEST, {"project": project_id, "id": memory_id, "version": version})

    def claim(self, limit: int, seconds: float) -> list[Uncategorized]:
        """Due ones of all projects (operations role); due again after `seconds` unless settled before."""
        rows = self._connection.execute(_CLAIM, {"limit": limit, "seconds": seconds})
        return [Uncategorized(r.project_id, r.memory_id, r.version, r.tries, float(r.age)) for r in rows]

    def later(self, wanted: Uncategorized, seconds: float) -> None:
        self._connection.execute(_LATER, _of(wanted) | {"seconds": seconds})

    def done(self, wanted: Uncategorized) -> None:
        """Nothing more is to be done for this version; a request for a later one stays."""
        self._connection.execute(_DONE, _of(wanted))

    def store(self, wanted: Uncategorized, categories: Sequence[str]) -> bool:
        """Give the version its categories, in its row and in its history; False when it is not the present one."""
        found = list(categories) or None
        if self._connection.execute(_STORE, _of(wanted) | {"categories": found}).rowcount != 1:
            return False
        self._connection.execute(_REMEMBER, _of(wanted) | {"kept": orjson.dumps({"categories": found}).decode()})
        return True


def _of(wanted: Uncategorized) -> dict[str, object]:
    return {"project": wanted.project_id, "id": wanted.memory_id, "version": wanted.version}
