"""A project's rows as JSON, out and in. Table names come from the fixed list below, never from an archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Connection, text
from sqlalchemy.exc import DataError, IntegrityError

from core.domain.archive import ArchiveRefused

FETCH = 500


@dataclass(frozen=True)
class _Kind:
    """`order` makes the lines of two databases come alike; `key` tells rows apart; `left_out` is not exported."""

    order: str
    key: tuple[str, ...]
    where: str = "true"
    left_out: tuple[str, ...] = ()


_LIVE = "EXISTS (SELECT FROM memories m WHERE m.id = t.memory_id AND m.state <> 'deleted')"
_KINDS = {
    "lanes": _Kind('lane_key COLLATE "C"', ("lane_key",)),
    "events": _Kind("created_at, id", ("id",), "state IN ('projected', 'failed')"),
    "messages": _Kind('lane_key COLLATE "C", position', ("id",)),
    "memories": _Kind("stored_seq", ("id",), "state <> 'deleted'", ("stored_seq",)),
    "history": _Kind("seq", ("id",), _LIVE, ("seq",)),
    "scope_entities": _Kind("id", ("type", "name"), left_out=("id",)),
    "entities": _Kind('scope_key COLLATE "C", key COLLATE "C"', ("scope_key", "key")),
    "entity_links": _Kind('memory_id, key COLLATE "C"', ("memory_id", "key"), _LIVE),
    "relations": _Kind(
        'memory_id, source COLLATE "C", relation COLLATE "C", target COLLATE "C"',
        ("memory_id", "source", "relation", "target"),
        _LIVE,
    ),
    "touches": _Kind("memory_id", ("memory_id",), _LIVE),
    "categorizations": _Kind("memory_id", ("memory_id",), _LIVE),
    "syntheses": _Kind('scope_key COLLATE "C"', ("scope_key",)),
    "webhooks": _Kind(
        "created_at, id",
        ("id",),
        left_out=("secret", "old_secret", "old_secret_until", "is_active", "disabled_reason", "failing_since"),
    ),
}
TABLES = tuple(_KINDS)
_SNAPSHOT = text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
_PATIENT = text("SELECT set_config('idle_in_transaction_session_timeout', '0', true)")
_OPEN = text("SELECT count(*) FROM events WHERE project_id = :project AND state NOT IN ('projected', 'failed')")
_COLUMNS = text("""
SELECT column_name FROM information_schema.columns
WHERE table_schema = 'public' AND table_name = :table AND is_identity = 'NO' ORDER BY ordinal_position
""")
_ASK = text("""
INSERT INTO projections (project_id, memory_id, requested_at)
SELECT :project, id, now() FROM unnest(CAST(:ids AS uuid[])) AS stored(id) ON CONFLICT DO NOTHING
""")


class SqlArchiveStore:
    """Runs as the operations role."""

    tables = TABLES

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def hold_still(self) -> None:
        """First call of a transaction that exports: it sees one moment, however long it takes."""
        self._connection.execute(_SNAPSHOT)
        self._connection.execute(_PATIENT)

    def open_events(self, project_id: UUID) -> int:
        return int(self._connection.execute(_OPEN, {"project": project_id}).scalar_one())

    def rows(self, table: str, project_id: UUID) -> Iterator[list[str]]:
        """The table's rows as JSON objects, in pages."""
        kind = _KINDS[table]
        minus = "".join(f" - '{name}'" for name in ("project_id", *kind.left_out))
        query = f"SELECT (to_jsonb(t){minus})::text FROM {table} t WHERE project_id = :project AND {kind.where}"
        declare = f"DECLARE rows NO SCROLL CURSOR FOR {query} ORDER BY {kind.order}"
        self._connection.execute(text(declare), {"project": project_id})
        while page := [row[0] for row in self._connection.execute(text(f"FETCH {FETCH} FROM rows"))]:
            yield page
        self._connection.execute(text("CLOSE rows"))

    def put(self, table: str, project_id: UUID, rows: Sequence[dict[str, Any]]) -> tuple[int, int]:
        """(new, standing): how many were inserted, and how many of all stand in the project now.

        Less standing than given: something of another project, or another row of this one, is in their place.
        Raises ArchiveRefused for what is no row of this table.
        """
        names = [name for name in self._columns(table) if name != "project_id"]
        given = ", ".join(f'r."{name}"' for name in names)
        listed = ", ".join(f'"{name}"' for name in names)
        params = {"project": project_id, "rows": orjson.dumps(list(rows)).decode()}
        try:
            new = self._connection.execute(_insert(table, listed, given), params).rowcount
        except (DataError, IntegrityError) as error:
            raise ArchiveRefused(f"A row of {table} is not one: {str(error.orig).splitlines()[0]}") from error
        standing = int(self._connection.execute(_standing(table), params).scalar_one())
        if table == "memories":
            self._connection.execute(_ASK, {"project": project_id, "ids": [row["id"] for row in rows]})
        return new, standing

    def _columns(self, table: str) -> list[str]:
        return [row.column_name for row in self._connection.execute(_COLUMNS, {"table": table})]


@cache
def _insert(table: str, listed: str, given: str) -> Any:
    return text(f"""
INSERT INTO {table} (project_id, {listed})
SELECT :project, {given} FROM jsonb_array_elements(CAST(:rows AS jsonb)) WITH ORDINALITY AS e(row, n),
  jsonb_populate_record(NULL::{table}, e.row) AS r ORDER BY e.n
ON CONFLICT DO NOTHING
""")


@cache
def _standing(table: str) -> Any:
    same = " AND ".join(f't."{name}" = r."{name}"' for name in _KINDS[table].key)
    return text(f"""
SELECT count(*) FROM jsonb_array_elements(CAST(:rows AS jsonb)) AS e(row),
  jsonb_populate_record(NULL::{table}, e.row) AS r JOIN {table} t ON t.project_id = :project AND {same}
""")
