"""The statements of an event's work. Each is one round trip: on small events those are most of what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Connection

from core.adapters.sql.event_store import COMMIT, result_params
from core.adapters.sql.memory_store import (
    AROUND,
    COLUMNS,
    around_params,
    entity_rows,
    link_rows,
    memory_of,
    values_of,
)
from core.adapters.sql.rebuild_store import by_role
from core.adapters.sql.statement import Statement
from core.domain.ids import new_id
from core.domain.memory import Memory
from core.ports.stores.collections import IndexCollection
from core.ports.stores.events import EventResult
from core.ports.stores.ingestion import Additions, Known, ScopeRow
from core.ports.stores.lanes import LaneRef
from core.ports.stores.memories import KnownText

_PART_CHARACTERS = 16_000_000
_WHOLE = Statement("""
SELECT counted.n, m.id, m.scope_key, m.hash, m.stored_seq, m.expiration_date, m.embedding
FROM (SELECT count(*) AS n FROM (SELECT FROM memories WHERE project_id = :project AND scope_key = ANY(:scopes)
        AND state = 'active' LIMIT :most + 1) AS few) AS counted
LEFT JOIN memories m ON counted.n <= :most AND m.project_id = :project AND m.scope_key = ANY(:scopes)
  AND m.state = 'active'
""")
_ENTER = Statement("SELECT * FROM memlane_enter(:project, :lane, :fence, CAST(:scopes AS text[]))")
# Two reads, so that each goes by its own index.
_KNOWN = Statement("""
SELECT true AS same, * FROM memories
WHERE project_id = :project AND scope_key = ANY(:scopes) AND hash = ANY(:hashes) AND state = 'active'
UNION ALL
SELECT false, m.* FROM unnest(CAST(:scopes AS text[]), CAST(:marks AS bigint[])) AS seen(scope_key, mark)
JOIN memories m ON m.project_id = :project AND m.scope_key = seen.scope_key AND m.stored_seq > seen.mark
WHERE m.state = 'active' AND (m.expiration_date IS NULL OR m.expiration_date >= CURRENT_DATE)
ORDER BY stored_seq
""")
# Without `forget_before` nothing is forgotten.
_STORE = Statement(f"""
WITH new_memories AS (
  INSERT INTO memories ({", ".join(COLUMNS)}) SELECT {", ".join(COLUMNS)}
  FROM jsonb_populate_recordset(NULL::memories, CAST(:memories AS jsonb)) ORDER BY scope_key, hash
), told AS (
  INSERT INTO history (id, project_id, memory_id, version, event, old_memory, new_memory, input, created_at)
  SELECT id, project_id, memory_id, version, event, old_memory, new_memory, input, created_at
  FROM jsonb_populate_recordset(NULL::history, CAST(:history AS jsonb))
), known AS (
  INSERT INTO entities (project_id, scope_key, key, name, type, created_at)
  SELECT project_id, scope_key, key, name, type, created_at
  FROM jsonb_populate_recordset(NULL::entities, CAST(:entities AS jsonb)) ORDER BY scope_key, key
  ON CONFLICT DO NOTHING
), linked AS (
  INSERT INTO entity_links (project_id, memory_id, key, scope_key) SELECT project_id, memory_id, key, scope_key
  FROM jsonb_populate_recordset(NULL::entity_links, CAST(:links AS jsonb)) ON CONFLICT DO NOTHING
), related AS (
  INSERT INTO relations (project_id, memory_id, source, relation, target)
  SELECT project_id, memory_id, source, relation, target
  FROM jsonb_populate_recordset(NULL::relations, CAST(:relations AS jsonb)) ON CONFLICT DO NOTHING
), said AS (
  INSERT INTO messages (id, project_id, lane_key, event_id, position, role, name, content, said_at)
  SELECT id, project_id, lane_key, event_id, position, role, name, content, said_at
  FROM jsonb_populate_recordset(NULL::messages, CAST(:messages AS jsonb)) ON CONFLICT DO NOTHING
)
DELETE FROM messages WHERE project_id = :project AND lane_key = :lane AND position < CAST(:forget_before AS bigint)
""")
_FINISH = Statement(f"""
WITH done AS ({COMMIT.text} RETURNING id
), asked AS (
  INSERT INTO projections (project_id, memory_id, requested_at)
  SELECT :project, wanted.id, now() FROM (
    SELECT id FROM unnest(CAST(:ids AS uuid[])) AS changed(id) UNION {AROUND}
  ) wanted ORDER BY id
  ON CONFLICT (project_id, memory_id) DO UPDATE SET requested_at = excluded.requested_at RETURNING memory_id
)
SELECT (SELECT count(*) FROM done) AS moved, ARRAY(SELECT memory_id FROM asked) AS waiting
""")


class SqlIngestionStore:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def whole(self, project_id: UUID, scope_keys: Sequence[str], most: int) -> list[ScopeRow] | None:
        params = {"project": project_id, "scopes": list(scope_keys), "most": most}
        rows = _WHOLE.rows(self._connection, params)
        if rows[0].n > most:
            return None
        return [ScopeRow(*row[1:]) for row in rows if row.id is not None]

    def enter(self, lane: LaneRef, scope_keys: Sequence[str]) -> dict[str, IndexCollection] | None:
        """The scopes are locked in one order, so that no two transactions wait for each other in a ring."""
        scopes = sorted(set(scope_keys))
        params = {"project": lane.project_id, "lane": lane.lane_key, "fence": lane.fence, "scopes": scopes}
        rows = _ENTER.mappings(self._connection, params)
        return by_role([row for row in rows if row["name"] is not None]) if rows else None

    def known(
        self, project_id: UUID, scope_keys: Sequence[str], hashes: Sequence[str], marks: Mapping[str, int]
    ) -> Known:
        params = {
            "project": project_id,
            "scopes": list(scope_keys),
            "hashes": list(hashes),
            "marks": [marks.get(key, 0) for key in scope_keys],
        }
        found = Known({}, [])
        for row in _KNOWN.mappings(self._connection, params):
            if row["same"]:
                found.texts[row["scope_key"], row["hash"]] = KnownText(row["id"], row["expiration_date"])
            else:
                found.fresh.append(memory_of(row))
        return found

    def store(self, new: Additions) -> None:
        """All tables in one statement, or in several where they are large. PostgreSQL reads each row's JSON by the
        table's own columns."""
        if not new.memories and not new.messages:
            return
        last = new.messages[-1] if new.messages else None
        relations = [
            {"project_id": memory.project_id, "memory_id": memory.id, **vars(relation)}
            for memory in new.memories
            for relation in set(new.relations.get(memory.id, ()))
        ]
        tables: dict[str, Iterable[dict[str, Any]]] = {
            "memories": map(_memory_row, new.memories),
            "history": ({"id": new_id(), **entry} for entry in new.history),
            "entities": entity_rows(new.memories),
            "links": link_rows(new.memories),
            "relations": relations,
            "messages": ({"id": new_id(), **row} for row in new.messages[-new.keep :]),
        }
        params = {
            "project": last["project_id"] if last else None,
            "lane": last["lane_key"] if last else None,
            "forget_before": _forget_before(new.messages, new.keep) if last else None,
        }
        for parts in zip_longest(*map(_parts, tables.values()), fillvalue="[]"):
            _STORE.run(self._connection, params | dict(zip(tables, parts, strict=True)))

    def finish(
        self, lane: LaneRef, event_id: UUID, done: EventResult, changed: Sequence[Memory], reach: int
    ) -> list[UUID] | None:
        params = {
            "id": event_id,
            "project": lane.project_id,
            "fence": lane.fence,
            "ids": [memory.id for memory in changed],
            **around_params(changed, reach),
            **result_params(done),
        }
        row = _FINISH.first(self._connection, params)
        return list(row.waiting) if row.moved else None


def _parts(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """JSON arrays of the rows, in order, each of about `_PART_CHARACTERS` at most: PostgreSQL takes 256 MB."""
    part, size = [], 0
    for row in rows:
        part.append(orjson.dumps(row).decode())
        size += len(part[-1])
        if size >= _PART_CHARACTERS:
            yield f"[{','.join(part)}]"
            part, size = [], 0
    if part:
        yield f"[{','.join(part)}]"


def _memory_row(memory: Memory) -> dict[str, Any]:
    """A row of `memories` as JSON; bytes in PostgreSQL's hex form."""
    values = values_of(memory)
    if memory.embedding is not None:
        values["embedding"] = "\\x" + memory.embedding.hex()
    return values


def _forget_before(messages: Sequence[Mapping[str, Any]], keep: int) -> int | None:
    """Messages before this position are more than the lane's last `keep`. Once in about `keep` is often enough."""
    last: int = messages[-1]["position"]
    return last - keep + 1 if last % keep < len(messages) else None
