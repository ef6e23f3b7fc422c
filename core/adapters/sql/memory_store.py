"""Memories, their history, entities and the messages they came from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Connection, insert
from sqlalchemy.dialects.postgresql import insert as pg_insert

from core.adapters.sql.statement import Statement
from core.adapters.sql.tables import EntityLinkRow, EntityRow, HistoryRow, MemoryRow
from core.domain.ids import new_id
from core.domain.memory import Entity, Memory, MemoryState
from core.domain.scope import Scope
from core.ports.stores.memories import KnownText, SaidBefore

_MEMORIES = MemoryRow.__table__  # type: ignore[attr-defined]
COLUMNS = [column.name for column in _MEMORIES.columns if column.name != "stored_seq"]

_LOCK = Statement("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))")
_MARKS = Statement("""
SELECT scope_key, max(stored_seq) FROM memories WHERE project_id = :project AND scope_key = ANY(:scopes)
GROUP BY scope_key
""")
_UNPROJECTED = Statement("""
SELECT m.* FROM projections p JOIN memories m ON m.id = p.memory_id
WHERE p.project_id = :project AND m.project_id = :project AND m.scope_key = ANY(:scopes) AND m.state = 'active'
ORDER BY p.requested_at DESC LIMIT 500
""")
_BY_HASH = Statement("""
SELECT id, hash, scope_key, expiration_date FROM memories
WHERE project_id = :project AND scope_key = ANY(:scopes) AND hash = ANY(:hashes) AND state = 'active'
""")
_EXPIRE = Statement("""
UPDATE memories SET state = 'expired', updated_at = now() WHERE id = ANY(:ids) AND state = 'active'
""")
_BY_IDS = Statement("SELECT * FROM memories WHERE project_id = :project AND id = ANY(:ids)")
# The ids of the active memories within ±reach positions of others in their conversation, these themselves too.
AROUND = """
SELECT m.id FROM unnest(CAST(:scopes AS text[]), CAST(:lanes AS text[]), CAST(:positions AS bigint[]))
  AS near(scope_key, lane_key, position)
JOIN memories m ON m.project_id = :project AND m.scope_key = near.scope_key AND m.lane_key = near.lane_key
  AND m.position BETWEEN near.position - :reach AND near.position + :reach AND m.state = 'active'
"""
# By an array, whatever the planner thinks of a table that it has no statistics of yet.
_NEIGHBOURS = Statement(f"SELECT * FROM memories WHERE id = ANY(ARRAY({AROUND}))")
_CLOSE = Statement("""
UPDATE memories SET state = :state, replaced_by = :by, replaced_kind = :kind, valid_to = :at,
  updated_at = clock_timestamp(), version = version + 1
WHERE id = :id AND state = 'active' AND NOT immutable
""")
_RECENT = Statement("""
SELECT position, role, name, content, said_at FROM messages
WHERE project_id = :project AND lane_key = :lane AND position < :before ORDER BY position DESC LIMIT :limit
""")

# Made once, and run with a list of rows: a statement with the rows in it would be compiled anew each time.
_ADD = insert(_MEMORIES)
_ADD_HISTORY = insert(HistoryRow)
_ADD_ENTITIES = pg_insert(EntityRow).on_conflict_do_nothing()
_ADD_LINKS = pg_insert(EntityLinkRow).on_conflict_do_nothing()


def memory_of(row: Mapping[Any, Any]) -> Memory:
    """A row of `memories` as the domain's Memory."""
    return Memory(
        scope=Scope(row["user_id"], row["agent_id"], row["app_id"], row["run_id"]),
        state=MemoryState(row["state"]),
        entities=[Entity(**entity) for entity in row["entities"]],
        **{name: row[name] for name in _PLAIN},
    )


_PLAIN = [name for name in Memory.__dataclass_fields__ if name not in ("scope", "state", "entities")]


def values_of(memory: Memory) -> dict[str, Any]:
    """The domain's Memory as column values, by attribute name of MemoryRow's columns."""
    values = {name: getattr(memory, name) for name in _PLAIN}
    values |= memory.scope.as_dict()
    values["scope_key"] = memory.scope.key
    values["state"] = memory.state.value
    values["entities"] = [{"name": e.name, "key": e.key, "type": e.type} for e in memory.entities]
    return values


class SqlMemoryStore:
    """What ingest and the projector need; listing and search re-checks live in memory_reads.py."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def lock_scopes(self, project_id: UUID, scope_keys: Sequence[str]) -> None:
        """Serialise the writers of these scopes until the transaction ends; sorted, so that none wait in a ring."""
        for key in sorted(set(scope_keys)):
            _LOCK.run(self._connection, {"key": f"{project_id}:{key}"})

    def marks(self, project_id: UUID, scope_keys: Sequence[str]) -> dict[str, int]:
        params = {"project": project_id, "scopes": list(scope_keys)}
        return dict(map(tuple, _MARKS.rows(self._connection, params)))

    def unprojected(self, project_id: UUID, scope_keys: Sequence[str]) -> list[Memory]:
        """Active memories of these scopes that the index does not hold yet, newest first, 500 at most."""
        params = {"project": project_id, "scopes": list(scope_keys)}
        return [memory_of(row) for row in _UNPROJECTED.mappings(self._connection, params)]

    def active_by_hash(
        self, project_id: UUID, scope_keys: Sequence[str], hashes: Sequence[str]
    ) -> dict[tuple[str, str], KnownText]:
        """(scope_key, hash) → the active memory with this text."""
        params = {"project": project_id, "scopes": list(scope_keys), "hashes": list(hashes)}
        rows = _BY_HASH.rows(self._connection, params)
        return {(row.scope_key, row.hash): KnownText(row.id, row.expiration_date) for row in rows}

    def expire(self, ids: Sequence[UUID]) -> None:
        _EXPIRE.run(self._connection, {"ids": list(ids)})

    def add(self, memories: Sequence[Memory]) -> None:
        """Insert. A text that is active already raises UniqueViolation in the end: the whole work is done again."""
        if memories:
            self._connection.execute(_ADD, [values_of(memory) for memory in memories])

    def close(self, memory_id: UUID, state: str, by: UUID, kind: str | None, at: datetime) -> bool:
        """active → superseded | merged by another memory; False when it was not active any more."""
        params = {"id": memory_id, "state": state, "by": by, "kind": kind, "at": at}
        return _CLOSE.run(self._connection, params) == 1

    def by_ids(self, project_id: UUID, ids: Sequence[UUID]) -> list[Memory]:
        """In any order; deleted rows included."""
        params = {"project": project_id, "ids": list(ids)}
        return [memory_of(row) for row in _BY_IDS.mappings(self._connection, params)]

    def neighbours(self, project_id: UUID, memories: Sequence[Memory], reach: int) -> list[Memory]:
        """Active memories of the same scope and lane within ±`reach` positions of any of these, themselves too."""
        params = {"project": project_id, **around_params(memories, reach)}
        return [memory_of(row) for row in _NEIGHBOURS.mappings(self._connection, params)]

    def record(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """History rows; `id` and `created_at` are the caller's to give or are made here."""
        if entries:
            self._connection.execute(_ADD_HISTORY, [{"id": new_id(), **entry} for entry in entries])

    def link(self, memories: Sequence[Memory]) -> None:
        """Make the memories' entities known in their scopes and link them."""
        if links := link_rows(memories):
            self._connection.execute(_ADD_ENTITIES, entity_rows(memories))
            self._connection.execute(_ADD_LINKS, links)

    def recent_messages(self, project_id: UUID, lane_key: str, before: int, limit: int) -> list[SaidBefore]:
        """The lane's last messages before a position, oldest first."""
        params = {"project": project_id, "lane": lane_key, "before": before, "limit": limit}
        return [SaidBefore(*row) for row in _RECENT.rows(self._connection, params)][::-1]


def around_params(memories: Sequence[Memory], reach: int) -> dict[str, Any]:
    """Parameters of AROUND."""
    return {
        "scopes": [memory.scope.key for memory in memories],
        "lanes": [memory.lane_key for memory in memories],
        "positions": [memory.position for memory in memories],
        "reach": reach,
    }


def entity_rows(memories: Sequence[Memory]) -> list[dict[str, Any]]:
    """Rows of `entities`: what these memories speak of, each once a scope, in one order for all writers."""
    pairs = [(memory, entity) for memory in memories for entity in memory.entities]
    known = {
        (m.scope.key, e.key): {
            "project_id": m.project_id,
            "scope_key": m.scope.key,
            "key": e.key,
            "name": e.name,
            "type": e.type,
            "created_at": memories[0].updated_at,
        }
        for m, e in sorted(pairs, key=lambda pair: (pair[0].scope.key, pair[1].key))
    }
    return list(known.values())


def link_rows(memories: Sequence[Memory]) -> list[dict[str, Any]]:
    """Rows of `entity_links`: each memory with each of its entities."""
    links = {
        (m.id, e.key): {"project_id": m.project_id, "memory_id": m.id, "key": e.key, "scope_key": m.scope.key}
        for m in memories
        for e in m.entities
    }
    return list(links.values())


# what history keeps of a version
KEPT = (
    "memory",
    "hash",
    "metadata",
    "categories",
    "entities",
    "event_date",
    "expiration_date",
    "immutable",
    "state",
    "valid_to",
    "replaced_by",
    "replaced_kind",
    "created_at",
    "updated_at",
)


def snapshot_of(memory: Memory) -> dict[str, Any]:
    """The fields that history keeps of a version, as JSON values."""
    return orjson.loads(orjson.dumps({name: getattr(memory, name) for name in KEPT}))  # type: ignore[no-any-return]


_READ: dict[str, Callable[[Any], Any]] = {
    "entities": lambda value: [Entity(**entity) for entity in value],
    "event_date": date.fromisoformat,
    "expiration_date": date.fromisoformat,
    "state": MemoryState,
    "valid_to": datetime.fromisoformat,
    "replaced_by": UUID,
    "created_at": datetime.fromisoformat,
}
_OF_NOW = ("immutable", "updated_at")  # an earlier version does not bring these back


def as_it_was(memory: Memory, snapshot: Mapping[str, Any]) -> Memory:
    """The memory with what `snapshot_of` has kept of an earlier version; what it lacks stays as it is."""
    kept = {name: value for name, value in snapshot.items() if name in KEPT and name not in _OF_NOW}
    read = {name: value if value is None or name not in _READ else _READ[name](value) for name, value in kept.items()}
    return replace(memory, **read)
