"""What an erasure does to the tables. Ids are bound values; the column of the entity type is one of four names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Connection, TextClause, text

from core.adapters.sql.memory_store import memory_of
from core.domain.erasure import DELETE_USER, Erasure
from core.domain.memory import Memory
from core.domain.scope import ENTITY_TYPES

_OPEN = "('accepted', 'claimed', 'retrying', 'committed')"
_WHOSE = "m.project_id = :project AND (m.{field} = :name OR (:derived AND m.lane_key = ANY(:lanes)))"


def _by_type(sql: str) -> dict[str, TextClause]:
    return {
        type_: text(sql.replace("{whose}", _WHOSE).replace("{field}", field)) for type_, field in ENTITY_TYPES.items()
    }


_LANES = _by_type("SELECT lane_key FROM lanes WHERE project_id = :project AND {field} = :name ORDER BY 1 FOR UPDATE")
_FENCE_OFF = text("""
UPDATE leases SET fence = nextval('fences'), expires_at = now() - interval '1 s'
WHERE project_id = :project AND lane_key = ANY(:lanes)
""")
_FAIL = text(f"""
UPDATE events SET state = 'failed', error = CAST(:error AS jsonb), crashes = 0, completed_at = clock_timestamp(),
  updated_at = clock_timestamp()
WHERE project_id = :project AND lane_key = ANY(:lanes) AND state IN {_OPEN} AND event_type <> '{DELETE_USER}'
""")
# An earlier erasure that waits here does its work too: it names nobody, and nobody's text.
_EMPTY = text(f"""
UPDATE events SET payload = NULL, results = '[]', outcomes = '[]'
WHERE project_id = :project AND lane_key = ANY(:lanes) AND payload IS NOT NULL AND event_type <> '{DELETE_USER}'
""")
_MESSAGES = text("DELETE FROM messages WHERE project_id = :project AND lane_key = ANY(:lanes)")
_KEYS = text("""
DELETE FROM idempotency_keys k USING events e
WHERE k.project_id = :project AND e.id = k.event_id AND e.project_id = :project AND e.lane_key = ANY(:lanes)
""")
_DELIVERIES = _by_type("""
DELETE FROM deliveries d WHERE d.project_id = :project AND (
  d.memory_id IN (SELECT m.id FROM memories m WHERE {whose})
  OR d.event_id IN (SELECT e.id FROM events e WHERE e.project_id = :project AND e.lane_key = ANY(:lanes)))
""")
# Rows are gone for every reader at once; their texts go with the job. What is told of them names no text.
_MARK = _by_type("""
WITH gone AS (
  UPDATE memories m SET state = 'deleted', version = m.version + 1, updated_at = now()
  WHERE {whose} AND m.state <> 'deleted' RETURNING m.id, m.version
), told AS (
  INSERT INTO history (id, project_id, memory_id, version, event, created_at)
  SELECT gen_random_uuid(), :project, id, version, 'DELETE', now() FROM gone
), asked AS (
  INSERT INTO projections (project_id, memory_id, requested_at) SELECT :project, id, now() FROM gone
  ON CONFLICT (project_id, memory_id) DO UPDATE SET requested_at = excluded.requested_at
)
SELECT count(*) FROM gone
""")
_LEFT = _by_type("SELECT m.* FROM memories m WHERE {whose} AND m.state = 'deleted' ORDER BY m.id LIMIT :limit")
_HISTORY = text("SELECT count(*) FROM history WHERE project_id = :project AND memory_id = ANY(:ids)")
# An add that still has its payload was accepted after the cut: it is the entity's new beginning, and keeps its name.
_SINCE = "e.payload IS NOT NULL AND e.event_type = 'ADD'"
_ANONYMOUS = _by_type(f"""
UPDATE events e SET {{field}} = NULL WHERE e.project_id = :project AND e.{{field}} = :name AND NOT ({_SINCE})
""")
_NO_LANES = _by_type(f"""
UPDATE lanes l SET {{field}} = NULL WHERE l.project_id = :project AND l.{{field}} = :name AND NOT EXISTS (
  SELECT FROM events e WHERE e.project_id = :project AND e.lane_key = l.lane_key AND {_SINCE})
""")
_NO_ENTITY = _by_type(f"""
DELETE FROM scope_entities WHERE project_id = :project AND type = :type AND name = :name AND NOT EXISTS (
  SELECT FROM events e WHERE e.project_id = :project AND e.{{field}} = :name AND {_SINCE}) AND NOT EXISTS (
  SELECT FROM memories m WHERE m.project_id = :project AND m.{{field}} = :name AND m.state <> 'deleted')
""")
_ANOTHER = text(f"""
SELECT EXISTS (
  SELECT FROM erasures r JOIN events e ON e.id = r.event_id AND e.project_id = r.project_id AND e.state IN {_OPEN}
  WHERE r.project_id = :project AND r.digest = :digest AND r.done_at IS NULL AND r.id <> :id)
""")
_ADD = text("""
INSERT INTO erasures (id, project_id, digest, type, name, keep_derived, event_id, receipt, created_at)
VALUES (:id, :project_id, :digest, :type, :name, :keep_derived, :event_id, CAST(:receipt AS jsonb), :created_at)
""")
_FIELDS = ", ".join(Erasure.__dataclass_fields__)
_ONE = text(f"SELECT {_FIELDS} FROM erasures WHERE project_id = :project AND id = :id")
_LAST = text(f"""
SELECT {_FIELDS} FROM erasures WHERE project_id = :project AND digest = :digest ORDER BY created_at DESC LIMIT 1
""")
_COUNTED = text("UPDATE erasures SET receipt = CAST(:receipt AS jsonb) WHERE id = :id")
# An earlier one of the same entity whose event has failed is done with this one.
_DONE = text(f"""
UPDATE erasures r SET type = NULL, name = NULL, done_at = now()
WHERE r.project_id = :project AND r.digest = :digest AND r.done_at IS NULL AND (r.id = :id OR NOT EXISTS (
  SELECT FROM events e WHERE e.id = r.event_id AND e.project_id = r.project_id AND e.state IN {_OPEN}))
""")


class SqlErasureStore:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, erasure: Erasure) -> None:
        self._connection.execute(_ADD, asdict(erasure) | {"receipt": orjson.dumps(erasure.receipt).decode()})

    def one(self, project_id: UUID, erasure_id: UUID) -> Erasure | None:
        row = self._connection.execute(_ONE, {"project": project_id, "id": erasure_id}).mappings().first()
        return Erasure(**row) if row else None

    def last(self, project_id: UUID, digest: bytes) -> Erasure | None:
        """The newest erasure of an entity, known by its digest alone."""
        row = self._connection.execute(_LAST, {"project": project_id, "digest": digest}).mappings().first()
        return Erasure(**row) if row else None

    def lanes(self, project_id: UUID, type_: str, name: str) -> list[str]:
        """The lanes that carry the entity, locked: an accept in one of them comes before or after this."""
        rows = self._connection.execute(_LANES[type_], {"project": project_id, "name": name})
        return [row.lane_key for row in rows]

    def cut(self, project_id: UUID, lanes: Sequence[str], error: dict[str, Any]) -> dict[str, int]:
        """End what is open in these lanes as `erased`, and empty every event; workers there are superseded.

        Returns counts by kind.
        """
        params = {"project": project_id, "lanes": list(lanes)}
        self._connection.execute(_FENCE_OFF, params)
        self._connection.execute(_FAIL, params | {"error": orjson.dumps(error).decode()})
        return {
            "events": self._connection.execute(_EMPTY, params).rowcount,
            "messages": self._connection.execute(_MESSAGES, params).rowcount,
            "idempotency_keys": self._connection.execute(_KEYS, params).rowcount,
        }

    def mark(self, erasure: Erasure, lanes: Sequence[str]) -> dict[str, int]:
        """Delete earlier deliveries, and mark the memories deleted."""
        params = _whose(erasure, lanes)
        return {
            "deliveries": self._connection.execute(_DELIVERIES[str(erasure.type)], params).rowcount,
            "memories": int(self._connection.execute(_MARK[str(erasure.type)], params).scalar_one()),
        }

    def left(self, erasure: Erasure, lanes: Sequence[str], limit: int) -> list[Memory]:
        """Marked rows that still have their text."""
        rows = self._connection.execute(_LEFT[str(erasure.type)], _whose(erasure, lanes) | {"limit": limit})
        return [memory_of(row) for row in rows.mappings()]

    def history_of(self, project_id: UUID, memory_ids: Sequence[UUID]) -> int:
        params = {"project": project_id, "ids": list(memory_ids)}
        return int(self._connection.execute(_HISTORY, params).scalar_one())

    def forget(self, erasure: Erasure) -> None:
        """Take the entity's id out of events and lanes, and the entity and the erasure's own memory of it away.

        While another erasure of the same entity waits, all but the last is left to that one, which needs the name.
        """
        params = {"project": erasure.project_id, "name": erasure.name, "type": erasure.type}
        another = params | {"digest": erasure.digest, "id": erasure.id}
        if not self._connection.execute(_ANOTHER, another).scalar_one():
            for statement in (_ANONYMOUS, _NO_LANES, _NO_ENTITY):
                self._connection.execute(statement[str(erasure.type)], params)
        self._connection.execute(_DONE, another)

    def count(self, erasure_id: UUID, receipt: dict[str, int]) -> None:
        self._connection.execute(_COUNTED, {"id": erasure_id, "receipt": orjson.dumps(receipt).decode()})


def _whose(erasure: Erasure, lanes: Sequence[str]) -> dict[str, Any]:
    """Of a user, also what others' memories took from the user's lanes, unless that is to be kept."""
    derived = erasure.type == "user" and not erasure.keep_derived
    return {"project": erasure.project_id, "name": erasure.name, "derived": derived, "lanes": list(lanes)}
