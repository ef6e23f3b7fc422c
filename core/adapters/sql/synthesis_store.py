"""Which scopes to look for patterns in, and the patterns that are there."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Connection, text

from core.adapters.sql.memory_store import memory_of
from core.domain.memory import Memory
from core.ports.stores.upkeep import DueScope

# Users' memories alone: everything that an erasure of the user covers carries the user's id, patterns too.
_CLAIM = text("""
INSERT INTO syntheses (project_id, scope_key, ran_at)
SELECT m.project_id, m.scope_key, now() FROM memories m
JOIN projects p ON p.id = m.project_id AND p.settings ->> 'synthesis' = 'true'
LEFT JOIN syntheses s ON s.project_id = m.project_id AND s.scope_key = m.scope_key
WHERE m.state = 'active' AND NOT m.synthesized AND m.user_id IS NOT NULL
  AND (s.ran_at IS NULL OR s.ran_at <= now() - :period * interval '1 s')
GROUP BY m.project_id, m.scope_key HAVING count(*) >= :least
ORDER BY min(s.ran_at) NULLS FIRST LIMIT :limit
ON CONFLICT (project_id, scope_key) DO UPDATE SET ran_at = now()
WHERE syntheses.ran_at <= now() - :period * interval '1 s'
RETURNING project_id, scope_key, fingerprint
""")
_AGAIN = text("""
UPDATE syntheses SET ran_at = now() - (:period - :seconds) * interval '1 s'
WHERE project_id = :project AND scope_key = :scope
""")
_FINISH = text("UPDATE syntheses SET fingerprint = :seen WHERE project_id = :project AND scope_key = :scope")
_MATERIAL = text("""
SELECT * FROM memories WHERE project_id = :project AND scope_key = :scope AND state = 'active' AND NOT synthesized
  AND (expiration_date IS NULL OR expiration_date >= CURRENT_DATE) ORDER BY created_at DESC, id DESC LIMIT :limit
""")
_PATTERNS = text("""
SELECT * FROM memories WHERE project_id = :project AND scope_key = :scope AND synthesized AND state = 'active'
ORDER BY stored_seq
""")
_WITHERED = text("""
SELECT p.project_id, p.id FROM memories p WHERE p.synthesized AND p.state = 'active' AND EXISTS (
  SELECT FROM unnest(p.evidence) AS wanted(id) LEFT JOIN memories e
    ON e.id = wanted.id AND e.project_id = p.project_id AND e.state = 'active' WHERE e.id IS NULL)
LIMIT :limit
""")
_WIDEN = text("""
UPDATE memories SET evidence = :evidence WHERE project_id = :project AND id = :id AND synthesized AND state = 'active'
""")


class SqlSynthesisStore:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def claim(self, period: float, least: int, limit: int) -> list[DueScope]:
        """Scopes of projects that want patterns, not looked at within `period` seconds (operations role)."""
        rows = self._connection.execute(_CLAIM, {"period": period, "least": least, "limit": limit})
        return [DueScope(row.project_id, row.scope_key, row.fingerprint) for row in rows]

    def again(self, wanted: DueScope, period: float, seconds: float) -> None:
        """Nothing came of it: due again in `seconds`."""
        self._connection.execute(_AGAIN, _of(wanted) | {"period": period, "seconds": seconds})

    def finish(self, wanted: DueScope, seen: str) -> None:
        self._connection.execute(_FINISH, _of(wanted) | {"seen": seen})

    def material(self, wanted: DueScope, limit: int) -> list[Memory]:
        """The scope's present memories, newest first, patterns left out."""
        rows = self._connection.execute(_MATERIAL, _of(wanted) | {"limit": limit})
        return [memory_of(row) for row in rows.mappings()]

    def patterns(self, wanted: DueScope) -> list[Memory]:
        return [memory_of(row) for row in self._connection.execute(_PATTERNS, _of(wanted)).mappings()]

    def withered(self, limit: int) -> list[tuple[UUID, UUID]]:
        """(project, pattern) of patterns whose evidence is not all active any more (operations role)."""
        return [(row.project_id, row.id) for row in self._connection.execute(_WITHERED, {"limit": limit})]

    def widen(self, pattern: Memory, evidence: Sequence[UUID]) -> None:
        params = {"project": pattern.project_id, "id": pattern.id, "evidence": list(evidence)}
        self._connection.execute(_WIDEN, params)


def _of(wanted: DueScope) -> dict[str, object]:
    return {"project": wanted.project_id, "scope": wanted.scope_key}
