"""Events of all projects as an operator sees them: where each stands and why, without a word of what was said."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from sqlalchemy import Connection, text

from core.adapters.sql.event_reads import CRASHES
from core.domain.event_overview import EventSummary, Narrowed
from core.domain.events import EventState

_WHERE = """
WHERE (CAST(:project AS uuid) IS NULL OR project_id = :project)
  AND (CAST(:ids AS uuid[]) IS NULL OR id = ANY(:ids))
  AND (CAST(:states AS text[]) IS NULL OR state = ANY(:states))
  AND (CAST(:codes AS text[]) IS NULL OR error->>'code' = ANY(:codes))
  AND (CAST(:within AS interval) IS NULL OR coalesce(completed_at, updated_at) >= now() - CAST(:within AS interval))
  AND (NOT :retryable OR (state = 'failed' AND payload IS NOT NULL))
"""
_COUNT = text(f"SELECT count(*) FROM events {_WHERE}")
_LIST = f"""
SELECT id, project_id, event_type, state, lane_key, seq, tries, {CRASHES}, created_at, completed_at, due_at,
  error->>'code' AS code, error->>'detail' AS detail, payload IS NOT NULL AS has_payload,
  CASE WHEN jsonb_typeof(payload->'messages') = 'array' THEN jsonb_array_length(payload->'messages') ELSE 0 END
    AS messages
FROM events {_WHERE}
"""
_NEWEST = text(f"{_LIST} ORDER BY created_at DESC, id DESC LIMIT :limit")
_OLDEST = text(f"""{_LIST}
  AND (CAST(:after AS uuid) IS NULL OR (created_at, id) > (CAST(:after_at AS timestamptz), :after))
ORDER BY created_at, id LIMIT :limit
""")


class SqlEventOverview:
    """Runs as the operations role, which sees every project."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def count(self, narrowed: Narrowed) -> int:
        return int(self._connection.execute(_COUNT, _params(narrowed)).scalar_one())

    def newest(self, narrowed: Narrowed, limit: int) -> list[EventSummary]:
        return self._rows(_NEWEST, narrowed, limit)

    def oldest(self, narrowed: Narrowed, limit: int, *, after: EventSummary | None = None) -> list[EventSummary]:
        """In order of acceptance; `after`: the last event of the page before."""
        place = {"after": after.id, "after_at": after.created_at} if after else {"after": None, "after_at": None}
        return self._rows(_OLDEST, narrowed, limit, **place)

    def _rows(self, statement: Any, narrowed: Narrowed, limit: int, **more: Any) -> list[EventSummary]:
        rows = self._connection.execute(statement, _params(narrowed) | {"limit": limit} | more).mappings()
        return [EventSummary(**{**row, "state": EventState(row["state"])}) for row in rows]


def _params(narrowed: Narrowed) -> dict[str, Any]:
    return {
        "project": narrowed.project_id,
        "ids": _listed(narrowed.ids),
        "states": _listed([state.value for state in narrowed.states]),
        "codes": _listed(narrowed.codes),
        "within": narrowed.within,
        "retryable": narrowed.retryable,
    }


def _listed(values: Any) -> list[str | UUID] | None:
    return list(values) or None
