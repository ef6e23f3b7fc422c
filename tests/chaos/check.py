"""What must hold after any fault: truth, projection, history and outbox agree, and every accepted event has ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy import text

from core.adapters.sql.database import SqlDatabase
from core.ports.index import VectorIndex

_TWICE = text("""
SELECT project_id, scope_key, hash, count(*) FROM memories WHERE state = 'active'
GROUP BY 1, 2, 3 HAVING count(*) > 1
""")
_GHOSTS = {
    "a memory without its ADD in history": """
SELECT m.id FROM memories m WHERE NOT EXISTS (
  SELECT FROM history h WHERE h.memory_id = m.id AND h.event = 'ADD')
""",
    "a memory with two ADDs in history": """
SELECT memory_id FROM history WHERE event = 'ADD' GROUP BY memory_id HAVING count(*) > 1
""",
    "history of a memory that was never stored": """
SELECT h.memory_id FROM history h WHERE h.event = 'ADD' AND NOT EXISTS (
  SELECT FROM memories m WHERE m.id = h.memory_id) AND NOT EXISTS (
  SELECT FROM history d WHERE d.memory_id = h.memory_id AND d.event = 'DELETE')
""",
    "a link to no memory": """
SELECT l.memory_id FROM entity_links l WHERE NOT EXISTS (SELECT FROM memories m WHERE m.id = l.memory_id)
""",
    "a memory of an event that did not end well": """
SELECT m.id FROM memories m JOIN events e ON e.id = m.source_event_id WHERE e.state <> 'projected'
""",
    "a result that names no memory": """
SELECT e.id FROM events e, jsonb_array_elements(e.results) r WHERE e.state = 'projected' AND e.event_type = 'ADD'
  AND NOT EXISTS (SELECT FROM history h WHERE h.memory_id = (r->>'id')::uuid)
""",
    "a projection that was left behind": "SELECT memory_id FROM projections",
    "an event with fewer than no crashes": "SELECT id FROM events WHERE crashes < 0",
}


def _message_id(delivery: UUID) -> str:
    return f"msg_{delivery.hex}"


_DELIVERIES = text("SELECT id, state FROM deliveries")
_UNTOLD = text("""
SELECT m.id FROM memories m JOIN webhooks w ON w.project_id = m.project_id
WHERE m.created_at > w.created_at AND NOT EXISTS (
  SELECT FROM deliveries d WHERE d.memory_id = m.id AND d.webhook_id = w.id AND d.event_type = 'memory_add')
""")


def assert_consistent(database: SqlDatabase, index: VectorIndex, collection: str) -> None:
    """Raises AssertionError naming each disagreement; run it when nothing is in flight."""
    with database.operations() as tx:
        found = {what: list(tx.connection.execute(text(query))) for what, query in _GHOSTS.items()}
        twice = list(tx.connection.execute(_TWICE))
        present = {row[0] for row in tx.connection.execute(text("SELECT id FROM memories WHERE state <> 'deleted'"))}
    problems = {what: rows[:5] for what, rows in found.items() if rows}
    if twice:
        problems["two active memories with one text"] = twice[:5]
    points = Counter(id_ for id_, _ in index.scroll(collection))
    if set(points) != present:
        problems["index and truth differ"] = [len(set(points) - present), len(present - set(points))]  # type: ignore[assignment]
    assert not problems, problems


def assert_delivered(database: SqlDatabase, received: Mapping[str, int]) -> None:
    """Every delivery has come to the receiver, and nothing else has; every stored memory of its project was told."""
    with database.operations() as tx:
        rows = list(tx.connection.execute(_DELIVERIES))
        untold = list(tx.connection.execute(_UNTOLD))
    waiting = [row.id for row in rows if row.state != "delivered"]
    missing = [row.id for row in rows if row.state == "delivered" and _message_id(row.id) not in received]
    strange = set(received) - {_message_id(row.id) for row in rows}
    assert not waiting, f"{len(waiting)} deliveries are not delivered: {waiting[:5]}"
    assert not missing, f"{len(missing)} deliveries never came: {missing[:5]}"
    assert not strange, f"{len(strange)} came that nobody knows of: {sorted(strange)[:5]}"
    assert not untold, f"{len(untold)} memories were told of to nobody: {untold[:5]}"


def assert_each_ended_once(database: SqlDatabase, accepted: Sequence[UUID]) -> None:
    """Every accepted event has succeeded, and has stored exactly one memory."""
    query = text("""
SELECT e.id, e.state, (SELECT count(*) FROM memories m WHERE m.source_event_id = e.id) AS stored
FROM events e WHERE e.id = ANY(:ids)
""")
    with database.operations() as tx:
        rows = {row.id: (row.state, row.stored) for row in tx.connection.execute(query, {"ids": list(accepted)})}
    wrong = {id_: rows.get(id_, ("lost", 0)) for id_ in accepted if rows.get(id_) != ("projected", 1)}
    assert not wrong, f"{len(wrong)} of {len(accepted)}: {dict(list(wrong.items())[:5])}"


def assert_lane_order(database: SqlDatabase, project: UUID, lane_key: str) -> None:
    """The lane's memories were stored in the order in which their events were accepted."""
    query = text("""
SELECT e.seq FROM memories m JOIN events e ON e.id = m.source_event_id
WHERE e.project_id = :project AND e.lane_key = :lane ORDER BY m.stored_seq
""")
    with database.operations() as tx:
        stored = [row.seq for row in tx.connection.execute(query, {"project": project, "lane": lane_key})]
    assert stored == sorted(stored), "inverted in a lane"
