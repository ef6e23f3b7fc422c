"""Events as clients read them; what moves events is in event_store.py."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from sqlalchemy import Connection, RowMapping, text

from core.domain.events import Blocked, EventFilter, EventRecord, EventState
from core.domain.scope import ENTITY_FIELDS, Scope

# An attempt counts as a crash until it reports; while it runs, it is none yet.
CRASHES = "crashes - CAST(state = 'claimed' AS int) AS crashes"
_PLAIN = (
    "id, event_type, lane_key, payload, source, due_at, tries, crashes, error, reason, "
    "created_at, updated_at, started_at, completed_at"
)
_COLUMNS = f"{_PLAIN.replace('crashes', CRASHES)}, state, user_id, agent_id, app_id, run_id, results, outcomes, usage"
_ONE = text(f"SELECT {_COLUMNS} FROM events WHERE project_id = :project AND id = :id")
_BLOCKER = text("""
SELECT id, due_at, updated_at FROM events e
WHERE e.project_id = :project AND e.lane_key = :lane AND e.state = 'retrying'
  AND e.seq < (SELECT seq FROM events WHERE project_id = :project AND id = :id)
ORDER BY e.seq LIMIT 1
""")


class SqlEventReads:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def one(self, project_id: UUID, event_id: UUID) -> EventRecord | None:
        row = self._connection.execute(_ONE, {"project": project_id, "id": event_id}).mappings().first()
        return _record(row) if row else None

    def blocked(self, project_id: UUID, event: EventRecord) -> Blocked | None:
        """What keeps a waiting event's lane from moving on, if something does."""
        params = {"project": project_id, "lane": event.lane_key, "id": event.id}
        row = self._connection.execute(_BLOCKER, params).first()
        return Blocked(row.id, row.updated_at, row.due_at) if row else None

    def count(self, project_id: UUID, narrowed: EventFilter) -> int:
        where, params = _where(project_id, narrowed)
        return int(self._connection.execute(text(f"SELECT count(*) FROM events WHERE {where}"), params).scalar_one())

    def page(self, project_id: UUID, narrowed: EventFilter, offset: int, limit: int) -> list[EventRecord]:
        """Newest first."""
        where, params = _where(project_id, narrowed)
        order = "ORDER BY created_at DESC, id DESC OFFSET :offset LIMIT :limit"
        statement = text(f"SELECT {_COLUMNS} FROM events WHERE {where} {order}")
        rows = self._connection.execute(statement, params | {"offset": offset, "limit": limit}).mappings()
        return [_record(row) for row in rows]


def _record(row: RowMapping) -> EventRecord:
    return EventRecord(
        state=EventState(row["state"]),
        scope=Scope.of(dict(row)),
        results=row["results"] or (),
        outcomes=row["outcomes"] or (),
        usage=row["usage"] or {},
        **{name: row[name] for name in _PLAIN.split(", ")},
    )


def _where(project_id: UUID, narrowed: EventFilter) -> tuple[str, dict[str, Any]]:
    """Only fixed column names enter the text; every value is bound."""
    conditions = ["project_id = :project"]
    params: dict[str, Any] = {"project": project_id}
    if narrowed.event_types:
        conditions.append("event_type = ANY(:event_types)")
        params["event_types"] = list(narrowed.event_types)
    if narrowed.states:
        conditions.append("state = ANY(:states)")
        params["states"] = [state.value for state in narrowed.states]
    for field, value in narrowed.ids:
        if field in ENTITY_FIELDS:
            conditions.append(f"{field} = :{field}")
            params[field] = value
    return " AND ".join(conditions), params
