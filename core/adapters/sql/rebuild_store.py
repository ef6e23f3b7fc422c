"""Rebuilding the index: which collections there are, who rebuilds, how far it is, and the vectors made for it.

Runs as the operations role, `held` and `staged` as the application role too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, text

from core.adapters.sql.memory_store import memory_of
from core.domain.memory import Memory
from core.ports.stores.collections import IndexCollection

_HELD = text("SELECT * FROM memlane_hold_collections()")
_EXCLUSIVE = text("SELECT pg_advisory_xact_lock(1229867352)")
_PATIENT = text("""
SELECT set_config('lock_timeout', '60s', true), set_config('statement_timeout', '0', true),
  set_config('idle_in_transaction_session_timeout', '0', true)
""")
_ROWS = text("SELECT * FROM index_collections")
_BEGIN = text("""
INSERT INTO index_collections (name, role, embedding_model, dims, staged, run, moved_at, created_at)
VALUES (:name, 'building', :model, :dims, :staged, :run, clock_timestamp(), now())
""")
_TAKE = text("""
UPDATE index_collections SET run = :run, moved_at = clock_timestamp() WHERE role = 'building'
""")
_ADVANCE = text("""
UPDATE index_collections SET position = :position, done = done + :rows, moved_at = clock_timestamp()
WHERE role = 'building' AND run = :run
""")
_DISCARD = text("DELETE FROM index_collections WHERE role = :role")
_TOTAL = text("SELECT count(*) FROM memories WHERE state <> 'deleted' AND embedding IS NOT NULL")
_BATCH = text("""
SELECT id, project_id FROM memories WHERE state <> 'deleted' AND embedding IS NOT NULL
  AND (CAST(:after AS uuid) IS NULL OR id > :after) ORDER BY id LIMIT :limit
""")
_SAMPLE = text("""
SELECT id, project_id FROM memories WHERE state <> 'deleted' AND embedding IS NOT NULL ORDER BY random() LIMIT :limit
""")
_LATE = text("SELECT memory_id FROM projections WHERE memory_id = ANY(:ids)")
_KNOWN = text("""
SELECT id FROM memories WHERE id = ANY(:ids) AND state <> 'deleted' AND embedding IS NOT NULL
""")
_UNSTAGED = text("""
SELECT m.* FROM memories m LEFT JOIN staged_embeddings s ON s.memory_id = m.id AND s.hash = m.hash
WHERE s.memory_id IS NULL AND m.state <> 'deleted' AND m.embedding IS NOT NULL
  AND (CAST(:ids AS uuid[]) IS NULL OR m.id = ANY(:ids)) ORDER BY m.id LIMIT :limit
""")
_STAGE = text("""
INSERT INTO staged_embeddings (memory_id, project_id, hash, embedding)
SELECT m.id, m.project_id, :hash, :embedding FROM memories m WHERE m.id = :id FOR KEY SHARE
ON CONFLICT (memory_id) DO UPDATE SET hash = excluded.hash, embedding = excluded.embedding
""")
_STAGED = text("""
SELECT s.memory_id, s.embedding FROM staged_embeddings s JOIN memories m ON m.id = s.memory_id AND m.hash = s.hash
WHERE s.project_id = :project AND s.memory_id = ANY(:ids)
""")
_ADOPT = text("""
UPDATE memories m SET embedding = s.embedding FROM staged_embeddings s WHERE s.memory_id = m.id AND s.hash = m.hash
""")
_RETIRE = text("UPDATE index_collections SET role = 'retiring', staged = :staged WHERE role = 'active'")
_ACTIVATE = text("UPDATE index_collections SET role = 'active', staged = false, run = NULL WHERE role = 'building'")
_CLEAR = text("TRUNCATE staged_embeddings")

_OF_COLLECTION = tuple(IndexCollection.__dataclass_fields__)


def by_role(rows: Iterable[Mapping[Any, Any]]) -> dict[str, IndexCollection]:
    """role → collection, of rows of index_collections."""
    return {row["role"]: IndexCollection(**{name: row[name] for name in _OF_COLLECTION}) for row in rows}


class SqlRebuildStore:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def held(self) -> dict[str, IndexCollection]:
        """What there is, unchanged until this transaction ends."""
        return by_role(self._connection.execute(_HELD).mappings())

    def hold_alone(self) -> dict[str, IndexCollection]:
        """The same for who is about to change them: no transaction that writes vectors or points is under way."""
        self._connection.execute(_PATIENT)
        self._connection.execute(_EXCLUSIVE)
        return by_role(self._connection.execute(_ROWS).mappings())

    def begin(self, name: str, model: str, dims: int, *, staged: bool, run: UUID) -> None:
        """Raises UniqueViolation when a rebuild is under way already."""
        params = {"name": name, "model": model, "dims": dims, "staged": staged, "run": run}
        self._connection.execute(_BEGIN, params)

    def take(self, run: UUID) -> None:
        """Take over the rebuild under way, if there is one; whoever had it before can no longer advance it."""
        self._connection.execute(_TAKE, {"run": run})

    def advance(self, run: UUID, position: UUID, rows: int) -> bool:
        """Note how far it is; False when another has taken over."""
        return self._connection.execute(_ADVANCE, {"run": run, "position": position, "rows": rows}).rowcount == 1

    def discard(self, role: str) -> None:
        self._connection.execute(_DISCARD, {"role": role})

    def total(self) -> int:
        """How many memories have a place in the index."""
        return int(self._connection.execute(_TOTAL).scalar_one())

    def batch(self, after: UUID | None, limit: int) -> list[tuple[UUID, UUID]]:
        """(project, memory) in order of the memory's id."""
        rows = self._connection.execute(_BATCH, {"after": after, "limit": limit})
        return [(row.project_id, row.id) for row in rows]

    def sample(self, limit: int) -> list[tuple[UUID, UUID]]:
        """(project, memory) of some, at random."""
        rows = self._connection.execute(_SAMPLE, {"limit": limit})
        return [(row.project_id, row.id) for row in rows]

    def late(self, ids: Sequence[UUID]) -> set[UUID]:
        """Those among these whose projection is still waited for."""
        return {row.memory_id for row in self._connection.execute(_LATE, {"ids": list(ids)})}

    def known(self, ids: Sequence[UUID]) -> set[UUID]:
        """Those among these that have a place in the index."""
        return {row.id for row in self._connection.execute(_KNOWN, {"ids": list(ids)})}

    def unstaged(self, limit: int, ids: Sequence[UUID] | None = None) -> list[Memory]:
        """Memories that have no valid staged vector; of all, or among these."""
        params = {"limit": limit, "ids": None if ids is None else list(ids)}
        return [memory_of(row) for row in self._connection.execute(_UNSTAGED, params).mappings()]

    def stage(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """`rows`: id, hash, embedding. What has been purged meanwhile is left out."""
        if rows:
            self._connection.execute(_STAGE, list(rows))

    def staged(self, project_id: UUID, memory_ids: Sequence[UUID]) -> dict[UUID, bytes]:
        """The valid staged vectors among these."""
        rows = self._connection.execute(_STAGED, {"project": project_id, "ids": list(memory_ids)})
        return {row.memory_id: row.embedding for row in rows}

    def switch(self, *, staged: bool) -> None:
        """The collection that was built is the active one from now on; staged vectors are the memories' own."""
        if staged:
            self._connection.execute(_ADOPT)
        self._connection.execute(_RETIRE, {"staged": staged})
        self._connection.execute(_ACTIVATE)

    def clear_staged(self) -> None:
        self._connection.execute(_CLEAR)
