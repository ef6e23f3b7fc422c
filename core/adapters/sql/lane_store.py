"""Lanes and leases: who works on which lane. Database time everywhere."""

from __future__ import annotations

from psycopg.sql import SQL, Literal
from sqlalchemy import Connection

from core.adapters.sql.control import run
from core.adapters.sql.statement import Statement
from core.ports.database import DueEvent, LaneRef

_OPEN = "('accepted', 'claimed', 'retrying', 'committed')"

# In one statement, which never waits and whose locks end with it: a worker that is slow to go on delays no accept.
# The lane whose project holds the fewest live leases, then the one with the oldest due event. A lane is due
# when its lowest open event is due and nobody holds a live lease on it.
_TAKE = Statement(f"""
WITH RECURSIVE busy AS (
  SELECT project_id, lane_key FROM leases WHERE expires_at > now()
), working AS (
  (SELECT project_id FROM events WHERE state IN {_OPEN} ORDER BY project_id LIMIT 1)
  UNION ALL
  SELECT (SELECT e.project_id FROM events e WHERE e.state IN {_OPEN} AND e.project_id > working.project_id
          ORDER BY e.project_id LIMIT 1)
  FROM working WHERE working.project_id IS NOT NULL
), due AS (
  SELECT head.*, (SELECT count(*) FROM busy b WHERE b.project_id = w.project_id) AS live
  FROM working w CROSS JOIN LATERAL (
    SELECT e.project_id, e.lane_key, e.due_at FROM events e
    WHERE e.project_id = w.project_id AND e.state IN {_OPEN} AND e.due_at <= now()
      AND NOT EXISTS (SELECT FROM busy b WHERE b.project_id = e.project_id AND b.lane_key = e.lane_key)
      AND NOT EXISTS (SELECT FROM events f WHERE f.project_id = e.project_id AND f.lane_key = e.lane_key
                      AND f.seq < e.seq AND f.state IN {_OPEN} AND f.due_at > now())
    ORDER BY e.due_at LIMIT 4) head
  WHERE w.project_id IS NOT NULL
), next AS (
  SELECT l.project_id, l.lane_key FROM due JOIN lanes l USING (project_id, lane_key)
  ORDER BY due.live, due.due_at LIMIT 1 FOR UPDATE OF l SKIP LOCKED
), before AS (
  SELECT taken_at < pg_postmaster_start_time() AS restarted FROM leases JOIN next USING (project_id, lane_key)
), taken AS (
  INSERT INTO leases AS l (project_id, lane_key, owner, fence, taken_at, expires_at)
  SELECT project_id, lane_key, :owner, nextval('fences'), clock_timestamp(),
    clock_timestamp() + :seconds * interval '1 s' FROM next
  ON CONFLICT (project_id, lane_key) DO UPDATE
  SET owner = excluded.owner, fence = excluded.fence, taken_at = excluded.taken_at, expires_at = excluded.expires_at
  WHERE l.expires_at <= now()
  RETURNING project_id, lane_key, fence
), pardoned AS (
  -- A lost worker's events: its crash stays counted, unless the database went away under it.
  UPDATE events e SET crashes = greatest(crashes - 1, 0) FROM taken t JOIN before ON before.restarted
  WHERE e.project_id = t.project_id AND e.lane_key = t.lane_key AND e.state = 'claimed'
)
SELECT next.project_id, next.lane_key, taken.fence FROM next LEFT JOIN taken USING (project_id, lane_key)
""")

_FENCE = Statement(
    "SELECT 1 FROM leases WHERE project_id = :project AND lane_key = :lane AND fence = :fence FOR SHARE"
)
_RENEW = Statement("""
UPDATE leases SET expires_at = clock_timestamp() + :seconds * interval '1 s'
WHERE owner = :owner AND fence = ANY(:fences) RETURNING fence
""")
# Two statements in one round trip: see `release`.
_RELEASE = SQL(f"""
SELECT 1 FROM lanes WHERE project_id = {{project}} AND lane_key = {{lane}} FOR UPDATE;
DELETE FROM leases l WHERE project_id = {{project}} AND lane_key = {{lane}} AND fence = {{fence}}
  AND NOT EXISTS (
    SELECT FROM (SELECT due_at FROM events e WHERE e.project_id = {{project}} AND e.lane_key = {{lane}}
                 AND e.state IN {_OPEN} ORDER BY seq LIMIT 1) head
    WHERE head.due_at <= clock_timestamp())
""")
_LET_GO = Statement("DELETE FROM leases WHERE project_id = :project AND lane_key = :lane AND fence = :fence")
_DUE_HEADS = Statement(f"""
SELECT e.id, e.state, e.crashes FROM events e
WHERE e.project_id = :project AND e.lane_key = :lane AND e.state IN {_OPEN}
  AND NOT EXISTS (SELECT FROM events f WHERE f.project_id = e.project_id AND f.lane_key = e.lane_key
                  AND f.seq <= e.seq AND f.state IN {_OPEN} AND f.due_at > clock_timestamp())
ORDER BY e.seq LIMIT :limit
""")
_FREE = Statement("""
SELECT NOT EXISTS (SELECT FROM leases WHERE project_id = :project AND lane_key = :lane AND expires_at > now())
""")
_LEADER = Statement("SELECT pg_try_advisory_xact_lock(:key)")


class SqlLaneStore:
    """Claims and releases run as the operations role, the fence check in the project's own transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def take(self, owner: str, lease_seconds: float) -> LaneRef | None:
        """Take or take over the lease of the due lane of the least-served project; None when nothing is due."""
        params = {"owner": owner, "seconds": lease_seconds}
        while (row := _TAKE.first(self._connection, params)) is not None:
            if row.fence is not None:  # else somebody else was faster: the next one, then
                return LaneRef(row.project_id, row.lane_key, row.fence)
        return None

    def due(self, lane: LaneRef, limit: int) -> list[DueEvent]:
        """The lane's open events in sequence, up to the first that is not due yet."""
        params = {"project": lane.project_id, "lane": lane.lane_key, "limit": limit}
        return [DueEvent(row.id, row.state, row.crashes) for row in _DUE_HEADS.rows(self._connection, params)]

    def holds(self, lane: LaneRef) -> bool:
        """Fence check; the lease row stays share-locked, so a takeover waits for this transaction."""
        params = {"project": lane.project_id, "lane": lane.lane_key, "fence": lane.fence}
        return _FENCE.first(self._connection, params) is not None

    def renew(self, owner: str, fences: list[int], lease_seconds: float) -> set[int]:
        """Prolong the leases; returns the fences that are still held."""
        params = {"owner": owner, "fences": fences, "seconds": lease_seconds}
        return {row.fence for row in _RENEW.rows(self._connection, params)}

    def release(self, lane: LaneRef) -> bool:
        """Free the lease if no event of the lane is due; False: there is more to do.

        Two statements: the lock on the lane's row makes accept wait, and the second statement then sees
        every event accepted before; one statement alone would use a snapshot from before the lock.
        Raises TransactionConflict, DatabaseUnavailable.
        """
        values = {"project": str(lane.project_id), "lane": lane.lane_key, "fence": lane.fence}
        statements = _RELEASE.format(**{name: Literal(value) for name, value in values.items()})
        return run(self._connection, statements.as_bytes()) != b"DELETE 0"

    def let_go(self, lane: LaneRef) -> bool:
        """Free the lease whatever is due: whoever calls it wakes another worker."""
        params = {"project": lane.project_id, "lane": lane.lane_key, "fence": lane.fence}
        return _LET_GO.run(self._connection, params) > 0

    def is_free(self, lane: LaneRef) -> bool:
        """True when nobody holds a live lease: the caller should wake a worker after its commit."""
        params = {"project": lane.project_id, "lane": lane.lane_key}
        return bool(_FREE.scalar(self._connection, params))

    def lead(self, key: int) -> bool:
        """True when this transaction is the one that may sweep now."""
        return bool(_LEADER.scalar(self._connection, {"key": key}))
