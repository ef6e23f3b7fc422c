"""Retention: what is deleted when it has served its time. Batches, so that no lock is held long."""

from __future__ import annotations

from sqlalchemy import Connection, text

_ENDED = "('projected', 'failed')"
_BATCHES = {
    "payloads": text(f"""
UPDATE events SET payload = NULL WHERE id IN (
  SELECT id FROM events WHERE state IN {_ENDED} AND payload IS NOT NULL
    AND completed_at < now() - :seconds * interval '1 s' LIMIT :limit)
"""),
    "events": text(f"""
DELETE FROM events WHERE id IN (
  SELECT id FROM events WHERE state IN {_ENDED} AND completed_at < now() - :seconds * interval '1 s' LIMIT :limit)
"""),
    "idempotency_keys": text("""
DELETE FROM idempotency_keys WHERE (project_id, key) IN (
  SELECT project_id, key FROM idempotency_keys WHERE created_at < now() - :seconds * interval '1 s' LIMIT :limit)
"""),
    "heartbeats": text("""
DELETE FROM heartbeats WHERE process IN (
  SELECT process FROM heartbeats WHERE seen_at < now() - :seconds * interval '1 s' LIMIT :limit)
"""),
    "leases": text("""
DELETE FROM leases WHERE (project_id, lane_key) IN (
  SELECT l.project_id, l.lane_key FROM leases l WHERE l.expires_at < now() - :seconds * interval '1 s'
    AND NOT EXISTS (SELECT FROM events e WHERE e.project_id = l.project_id AND e.lane_key = l.lane_key
                    AND e.state IN ('accepted', 'claimed', 'retrying', 'committed'))
  LIMIT :limit FOR UPDATE SKIP LOCKED)
"""),
}
KINDS = tuple(_BATCHES)


class SqlRetentionStore:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def purge(self, kind: str, seconds: float, limit: int) -> int:
        """Delete (payloads: empty) up to `limit` rows of a kind that are older than `seconds`; how many."""
        return self._connection.execute(_BATCHES[kind], {"seconds": seconds, "limit": limit}).rowcount
