"""The named, guarded transitions of an event (domain/events.py). Nobody else writes `events.state`.

Each updates only where state and fence still match; False means superseded, which is not an error.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Connection

from core.adapters.sql.statement import Statement
from core.domain.scope import Scope
from core.domain.work import EventWork, NewEvent
from core.ports.database import LaneRef
from core.ports.stores.events import EventResult, HeldKey

_ACCEPT = Statement("""
WITH lane AS (
  INSERT INTO lanes AS l (project_id, lane_key, next_seq, next_position, user_id, agent_id, app_id, run_id)
  VALUES (:project, :lane, 2, :messages, :user_id, :agent_id, :app_id, :run_id)
  ON CONFLICT (project_id, lane_key) DO UPDATE
  SET next_seq = l.next_seq + 1, next_position = l.next_position + :messages, user_id = excluded.user_id,
    agent_id = excluded.agent_id, app_id = excluded.app_id, run_id = excluded.run_id
  RETURNING next_seq - 1 AS seq, next_position - :messages AS position
), known AS (
  INSERT INTO scope_entities AS s (project_id, type, name, created_at, updated_at)
  SELECT :project, e.type, e.name, now(), now()
  FROM unnest(CAST(:types AS text[]), CAST(:names AS text[])) AS e(type, name)
  ON CONFLICT (project_id, type, name) DO UPDATE SET updated_at = now()
  WHERE s.updated_at < now() - interval '1 minute'
)
INSERT INTO events (id, project_id, event_type, state, lane_key, seq, position, user_id, agent_id, app_id, run_id,
                    payload, source, due_at, created_at, updated_at)
SELECT :id, :project, :type, 'accepted', :lane, lane.seq, lane.position, :user_id, :agent_id, :app_id, :run_id,
       CAST(:payload AS jsonb), :source, now(), now(), now() FROM lane
""")
_BEGIN = Statement("""
WITH held AS (
  SELECT FROM leases WHERE project_id = :project AND lane_key = :lane AND fence = :fence FOR SHARE
)
UPDATE events SET state = 'claimed', fence = :fence, crashes = crashes + 1, updated_at = clock_timestamp(),
  started_at = coalesce(started_at, clock_timestamp())
FROM held WHERE id = :id AND project_id = :project AND state IN ('accepted', 'retrying', 'claimed')
RETURNING id, project_id, event_type, lane_key, seq, position, user_id, agent_id, app_id, run_id, payload, tries,
  crashes - 1 AS crashes, created_at,
  coalesce((SELECT p.settings FROM projects p WHERE p.id = events.project_id), '{}') AS settings,
  extract(epoch FROM clock_timestamp() - coalesce(requeued_at, created_at))::float8 AS age
""")
COMMIT = Statement("""
UPDATE events SET state = 'committed', crashes = crashes - 1, committed_at = clock_timestamp(),
  updated_at = clock_timestamp(), error = NULL, results = CAST(:results AS jsonb),
  outcomes = CAST(:outcomes AS jsonb), reason = :reason, usage = CAST(:usage AS jsonb)
WHERE id = :id AND state = 'claimed' AND fence = :fence
""")
_PROJECT = Statement("""
UPDATE events SET state = 'projected', completed_at = clock_timestamp(), updated_at = clock_timestamp()
WHERE id = ANY(:ids) AND state = 'committed' RETURNING id
""")
_RETRY = Statement("""
UPDATE events SET state = 'retrying', crashes = crashes - 1, tries = tries + :counted, updated_at = clock_timestamp(),
  due_at = clock_timestamp() + :after * interval '1 s', error = CAST(:error AS jsonb)
WHERE id = :id AND state = 'claimed' AND fence = :fence
""")
_HAND_BACK = Statement("""
UPDATE events SET state = 'accepted', crashes = crashes - 1, updated_at = clock_timestamp()
WHERE id = :id AND state = 'claimed' AND fence = :fence
""")
_FAIL = Statement("""
UPDATE events SET state = 'failed', crashes = crashes - 1, error = CAST(:error AS jsonb), results = '[]',
  outcomes = coalesce(CAST(:outcomes AS jsonb), outcomes),
  completed_at = clock_timestamp(), updated_at = clock_timestamp()
WHERE id = :id AND state = 'claimed' AND fence = :fence
""")
_HOLD_KEY = Statement("""
INSERT INTO idempotency_keys (project_id, key, body_hash, event_id, created_at)
VALUES (:project, :key, :hash, :event, now()) ON CONFLICT DO NOTHING
""")
_HELD_KEY = Statement("""
SELECT k.event_id, k.body_hash, now() - k.created_at AS age, e.state
FROM idempotency_keys k LEFT JOIN events e ON e.id = k.event_id
WHERE k.project_id = :project AND k.key = :key FOR UPDATE OF k
""")
_MOVE_KEY = Statement("""
UPDATE idempotency_keys SET body_hash = :hash, event_id = :event, created_at = now()
WHERE project_id = :project AND key = :key
""")
_REQUEUE = Statement("""
WITH failed AS (
  SELECT id, lane_key, payload FROM events
  WHERE project_id = :project AND id = :id AND state = 'failed' AND payload IS NOT NULL FOR UPDATE
), lane AS (
  UPDATE lanes l SET next_seq = next_seq + 1, next_position = next_position + :messages FROM failed
  WHERE l.project_id = :project AND l.lane_key = failed.lane_key
  RETURNING next_seq - 1 AS seq, next_position - :messages AS position
)
UPDATE events e SET state = 'accepted', seq = lane.seq, position = lane.position, tries = 0, crashes = 0,
  fence = NULL,
  error = NULL, results = NULL, outcomes = NULL, reason = NULL, due_at = now(), requeued_at = now(),
  started_at = NULL, completed_at = NULL, updated_at = now()
FROM lane, failed WHERE e.id = failed.id RETURNING e.lane_key
""")
_DEFER = Statement("""
UPDATE events SET due_at = clock_timestamp() + :after * interval '1 s', updated_at = clock_timestamp()
WHERE id = ANY(:ids) AND state = 'committed'
""")
_STORED_BY = Statement("SELECT id FROM memories WHERE project_id = :project AND source_event_id = :event")


def _json(value: Any) -> str | None:
    return None if value is None else orjson.dumps(value).decode()


def result_params(done: EventResult) -> dict[str, Any]:
    """Parameters of the columns that show what came of an event."""
    return {
        "results": _json(done["results"]),
        "outcomes": _json(done["outcomes"]),
        "reason": done["reason"],
        "usage": _json(done["usage"]),
    }


class SqlEventStore:
    """Transitions of single events; reads for the API live in event_reads.py."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def accept(self, project_id: UUID, event: NewEvent, *, names_entities: bool = True) -> None:
        """Write the event with the next sequence of its lane, and make its scope's entities known.

        A deletion does not make known whom it names: `names_entities` is False then.
        """
        entities = list(event.scope.entities()) if names_entities else []
        _ACCEPT.run(
            self._connection,
            {
                "id": event.id,
                "project": project_id,
                "type": event.event_type,
                "lane": event.scope.key,
                "messages": event.messages,
                "payload": _json(event.payload),
                "source": event.source,
                "types": [type_ for type_, _ in entities],
                "names": [name for _, name in entities],
                **event.scope.as_dict(),
            },
        )

    def begin(self, lane: LaneRef, event_id: UUID) -> EventWork | None:
        """accepted | retrying | claimed (by a lost worker) → claimed. Counts a crash until the work reports.

        Checks the fence in the same statement, which may stand alone; None: superseded.
        """
        params = {"id": event_id, "project": lane.project_id, "lane": lane.lane_key, "fence": lane.fence}
        row = _BEGIN.mapping(self._connection, params)
        if row is None:
            return None
        fields = {name: row[name] for name in EventWork.__dataclass_fields__ if name != "scope"}
        return EventWork(scope=Scope.of(row), **fields)

    def commit(self, lane: LaneRef, event_id: UUID, done: EventResult) -> bool:
        """claimed → committed, with `results`, `outcomes`, `reason`, `usage` of `done`."""
        params = {"id": event_id, "fence": lane.fence, **result_params(done)}
        return COMMIT.run(self._connection, params) == 1

    def project(self, event_ids: list[UUID]) -> list[UUID]:
        """committed → projected (SUCCEEDED); returns the events that were moved."""
        return [row.id for row in _PROJECT.rows(self._connection, {"ids": event_ids})]

    def retry(self, lane: LaneRef, event_id: UUID, after: float, error: dict[str, Any], counted: bool = True) -> bool:
        """claimed → retrying, due `after` seconds from now; `counted` = this was a try."""
        params = {
            "id": event_id,
            "fence": lane.fence,
            "after": after,
            "error": _json(error),
            "counted": int(counted),
        }
        return _RETRY.run(self._connection, params) == 1

    def hand_back(self, lane: LaneRef, event_id: UUID) -> bool:
        """claimed → accepted, by a stopping worker."""
        return _HAND_BACK.run(self._connection, {"id": event_id, "fence": lane.fence}) == 1

    def fail(
        self, lane: LaneRef, event_id: UUID, error: dict[str, Any], outcomes: list[dict[str, Any]] | None = None
    ) -> bool:
        """claimed → failed, with an error of the catalogue."""
        params = {"id": event_id, "fence": lane.fence, "error": _json(error), "outcomes": _json(outcomes)}
        return _FAIL.run(self._connection, params) == 1

    def requeue(self, project_id: UUID, event_id: UUID, messages: int) -> str | None:
        """failed → accepted, at the end of its lane; the lane's key, or None when it cannot be."""
        params = {"project": project_id, "id": event_id, "messages": messages}
        row = _REQUEUE.first(self._connection, params)
        return row.lane_key if row else None

    def defer(self, event_ids: list[UUID], after: float) -> None:
        """committed stays committed; its projection is tried again `after` seconds from now."""
        _DEFER.run(self._connection, {"ids": event_ids, "after": after})

    def stored_by(self, project_id: UUID, event_id: UUID) -> list[UUID]:
        """The memories that an event has stored."""
        rows = _STORED_BY.rows(self._connection, {"project": project_id, "event": event_id})
        return [row.id for row in rows]

    def hold_key(self, project_id: UUID, key: str, body_hash: str, event_id: UUID) -> HeldKey | None:
        """Tie an Idempotency-Key to an event; None when it was free, else what it is tied to.

        A concurrent holder is waited for: the unique index makes the second insert wait for the first's end.
        """
        params = {"project": project_id, "key": key, "hash": body_hash, "event": event_id}
        if _HOLD_KEY.run(self._connection, params) == 1:
            return None
        row = _HELD_KEY.first(self._connection, params)
        return HeldKey(row.event_id, row.body_hash, row.age, row.state) if row else None

    def move_key(self, project_id: UUID, key: str, body_hash: str, event_id: UUID) -> None:
        params = {"project": project_id, "key": key, "hash": body_hash, "event": event_id}
        _MOVE_KEY.run(self._connection, params)
