"""Retention: what is deleted when it has served its time. Batches, so that no lock is held long."""

from __future__ import annotations

from sqlalchemy import Connection, TextClause, text

_ENDED = "('projected', 'failed')"


def _older(column: str, kind: str) -> str:
    """Older than the project's own number of days for this kind, or than the server's."""
    days = f"coalesce(CAST(p.settings->'retention'->>'{kind}' AS float8), :days)"
    return f"{column} < now() - {days} * interval '1 day'"


_BATCHES: dict[str, TextClause] = {
    "payloads": text(f"""
UPDATE events SET payload = NULL WHERE id IN (
  SELECT e.id FROM events e JOIN projects p ON p.id = e.project_id
  WHERE e.state IN {_ENDED} AND e.payload IS NOT NULL AND {_older("e.completed_at", "payloads")} LIMIT :limit)
"""),
    "events": text(f"""
DELETE FROM events WHERE id IN (
  SELECT e.id FROM events e JOIN projects p ON p.id = e.project_id
  WHERE e.state IN {_ENDED} AND {_older("e.completed_at", "events")} LIMIT :limit)
"""),
    "deliveries": text(f"""
DELETE FROM deliveries WHERE id IN (
  SELECT d.id FROM deliveries d JOIN projects p ON p.id = d.project_id
  WHERE d.state <> 'waiting' AND {_older("d.ended_at", "deliveries")} LIMIT :limit)
"""),
    # their points went when they were deleted; entities that nothing names any more go along
    "deleted_memories": text(f"""
WITH old AS (
  SELECT m.id, m.project_id, m.scope_key FROM memories m JOIN projects p ON p.id = m.project_id
  WHERE m.state = 'deleted' AND {_older("m.updated_at", "deleted_memories")}
  LIMIT :limit FOR UPDATE OF m SKIP LOCKED
), told AS (
  DELETE FROM history h USING old WHERE h.project_id = old.project_id AND h.memory_id = old.id
), related AS (
  DELETE FROM relations r USING old WHERE r.project_id = old.project_id AND r.memory_id = old.id
), linked AS (
  DELETE FROM entity_links l USING old WHERE l.project_id = old.project_id AND l.memory_id = old.id
), unnamed AS (
  DELETE FROM entities e USING (SELECT DISTINCT project_id, scope_key FROM old) s
  WHERE e.project_id = s.project_id AND e.scope_key = s.scope_key AND NOT EXISTS (
    SELECT FROM entity_links l WHERE l.project_id = e.project_id AND l.scope_key = e.scope_key AND l.key = e.key
      AND l.memory_id NOT IN (SELECT id FROM old))
)
DELETE FROM memories m USING old WHERE m.id = old.id
"""),
    "idempotency_keys": text("""
DELETE FROM idempotency_keys WHERE (project_id, key) IN (
  SELECT project_id, key FROM idempotency_keys WHERE created_at < now() - :days * interval '1 day' LIMIT :limit)
"""),
    "heartbeats": text("""
DELETE FROM heartbeats WHERE process IN (
  SELECT process FROM heartbeats WHERE seen_at < now() - :days * interval '1 day' LIMIT :limit)
"""),
    "leases": text("""
DELETE FROM leases WHERE (project_id, lane_key) IN (
  SELECT l.project_id, l.lane_key FROM leases l WHERE l.expires_at < now() - :days * interval '1 day'
    AND NOT EXISTS (SELECT FROM events e WHERE e.project_id = l.project_id AND e.lane_key = l.lane_key
                    AND e.state IN ('accepted', 'claimed', 'retrying', 'committed'))
  LIMIT :limit FOR UPDATE SKIP LOCKED)
"""),
}


class SqlRetentionStore:
    """Runs as the operations role, over all projects."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def purge(self, kind: str, days: float, limit: int) -> int:
        """Delete (payloads: empty) up to `limit` rows of a kind that are older than `days`, or than what their
        project's setting `retention` says; how many."""
        return self._connection.execute(_BATCHES[kind], {"days": days, "limit": limit}).rowcount
