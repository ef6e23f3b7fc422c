"""Users, agents, apps and runs: known from the first add that named them, listed while they have memories."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import Connection, text

from core.domain.entities import ScopeEntity
from core.domain.scope import ENTITY_TYPES

_COUNTED = " UNION ALL ".join(
    f"SELECT '{type_}' AS type, {field} AS name, count(*) AS total FROM memories "
    f"WHERE project_id = :project AND state <> 'deleted' AND {field} IS NOT NULL GROUP BY {field}"
    for type_, field in ENTITY_TYPES.items()
)
_LISTED = text(f"""
SELECT s.id AS number, s.type, s.name, s.created_at, s.updated_at, c.total AS total_memories
FROM ({_COUNTED}) c JOIN scope_entities s ON s.type = c.type AND s.name = c.name AND s.project_id = :project
ORDER BY s.id DESC OFFSET :offset LIMIT :limit
""")
_TOTALS = text(f"SELECT c.type, count(*) AS total FROM ({_COUNTED}) c GROUP BY c.type")
_ONE = text("""
SELECT id AS number, type, name, created_at, updated_at FROM scope_entities
WHERE project_id = :project AND type = :type AND name = :name
""")
_BY_NUMBER = text("""
SELECT id AS number, type, name, created_at, updated_at FROM scope_entities
WHERE project_id = :project AND type = :type AND id = :number
""")
_COUNT_ONE = {
    type_: text(
        f"SELECT count(*) FROM memories WHERE project_id = :project AND {field} = :name AND state <> 'deleted'"
    )
    for type_, field in ENTITY_TYPES.items()
}


class SqlScopeEntityStore:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def listed(self, project_id: UUID, offset: int, limit: int | None) -> list[ScopeEntity]:
        """Entities that have memories, newest first; all of them when `limit` is None."""
        params = {"project": project_id, "offset": offset, "limit": limit}
        return [ScopeEntity(**row) for row in self._connection.execute(_LISTED, params).mappings()]

    def totals(self, project_id: UUID) -> dict[str, int]:
        """type → number of entities that have memories; every type is there."""
        counted = {row.type: row.total for row in self._connection.execute(_TOTALS, {"project": project_id})}
        return {type_: counted.get(type_, 0) for type_ in ENTITY_TYPES}

    def one(self, project_id: UUID, type_: str, name: str) -> ScopeEntity | None:
        """A once-known entity, whether it has memories or not."""
        params = {"project": project_id, "type": type_, "name": name}
        row = self._connection.execute(_ONE, params).mappings().first()
        if row is None:
            return None
        total = self._connection.execute(_COUNT_ONE[type_], {"project": project_id, "name": name}).scalar_one()
        return ScopeEntity(**row, total_memories=total)

    def by_number(self, project_id: UUID, type_: str, number: int) -> ScopeEntity | None:
        params = {"project": project_id, "type": type_, "number": number}
        row = self._connection.execute(_BY_NUMBER, params).mappings().first()
        return ScopeEntity(**row) if row else None
