"""What search reads of the truth: every hit of the index is looked up again before anybody sees it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Column, ColumnElement, Connection, Row, Text, Uuid, any_, cast, literal, null, select
from sqlalchemy.dialects.postgresql import ARRAY

from core.adapters.sql.filter_sql import compile_sql
from core.adapters.sql.memory_store import memory_of
from core.adapters.sql.tables import MemoryRow
from core.domain.filters import Node
from core.domain.memory import Memory, MemoryState
from core.domain.recalled import Recalled

_MEMORIES = MemoryRow.__table__  # type: ignore[attr-defined]
_JSON = ("metadata", "entities")


def _light(column: Column[Any]) -> ColumnElement[Any]:
    """Of hundreds of candidates a few are shown: no embeddings, and JSON stays text until somebody reads it."""
    if column.name == "embedding":
        return null().label("embedding")
    return cast(column, Text).label(column.name) if column.name in _JSON else column


_LIGHT = [_light(column) for column in _MEMORIES.columns]


class SqlSearchReads:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def still_there(self, project_id: UUID, where: Node, ids: Sequence[UUID]) -> list[Recalled]:
        """Those of `ids` that belong to the project and satisfy the filter now, without embeddings, in any order."""
        wanted = cast(literal(list(ids), ARRAY(Uuid)), ARRAY(Uuid))
        statement = select(*_LIGHT).where(
            _MEMORIES.c.project_id == project_id,
            _MEMORIES.c.id == any_(wanted),
            compile_sql(where),
            _MEMORIES.c.state != "deleted",
        )
        return [_recalled(row) for row in self._connection.execute(statement).all()]


def _recalled(row: Row[Any]) -> Recalled:
    return Recalled(
        id=row.id,
        text=row.memory,
        scope_key=row.scope_key,
        lane_key=row.lane_key,
        position=row.position,
        said_at=row.said_at or row.created_at,
        run_id=row.run_id,
        actor_id=row.actor_id,
        event_date=row.event_date,
        superseded=row.state == MemoryState.SUPERSEDED,
        replaced_by=row.replaced_by,
        valid_to=row.valid_to,
        expiration_date=row.expiration_date,
        memory=partial(_memory, row),
    )


def _memory(row: Row[Any]) -> Memory:
    parsed = {name: orjson.loads(row._mapping[name]) for name in _JSON}
    return memory_of({**row._mapping, **parsed})
