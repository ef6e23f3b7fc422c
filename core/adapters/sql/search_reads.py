"""What search reads of the truth: every hit of the index is looked up again before anybody sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any
from uuid import UUID

import numpy as np
import orjson
from sqlalchemy import (
    ARRAY,
    Column,
    ColumnElement,
    Connection,
    Text,
    Uuid,
    and_,
    any_,
    cast,
    exists,
    func,
    literal,
    null,
    select,
)

from core.adapters.sql.filter_sql import compile_sql
from core.adapters.sql.memory_store import memory_of
from core.adapters.sql.tables import CollectionRow, MemoryRow
from core.domain.filter_scope import single_scope
from core.domain.filters import Node
from core.domain.memory import Memory, MemoryState
from core.domain.recalled import Recalled
from core.ports.models import Matrix

_MEMORIES = MemoryRow.__table__  # type: ignore[attr-defined]
_COLLECTIONS = CollectionRow.__table__  # type: ignore[attr-defined]
_FLOAT_BYTES = 4


def _light(column: Column[Any]) -> ColumnElement[Any]:
    """Of hundreds of candidates a few are shown: no embeddings, and what takes long to parse stays text till then."""
    if column.name == "embedding":
        return null().label("embedding")
    if column.name in _PARSED:
        written = func.array_to_json(column) if isinstance(column.type, ARRAY) else column
        return cast(written, Text).label(column.name)
    return column


def _ids(written: str) -> list[UUID]:
    return [UUID(id_) for id_ in orjson.loads(written)]


_PARSED: dict[str, Callable[[str], Any]] = {
    "metadata": orjson.loads,
    "entities": orjson.loads,
    "categories": orjson.loads,
    "source_turns": orjson.loads,
    "evidence": _ids,
    "project_id": UUID,
    "source_event_id": UUID,
}


_LIGHT = [_light(column) for column in _MEMORIES.columns]
_SELECT = select(*_LIGHT)
_NAMES = [column.name for column in _MEMORIES.columns]
_RANKED = itemgetter(
    *map(
        _NAMES.index,
        (
            "id", "memory", "scope_key", "lane_key", "position", "said_at", "created_at", "run_id",
            "actor_id", "event_date", "state", "replaced_by", "valid_to", "expiration_date",
        ),
    )
)  # fmt: skip
_NONE_KNOWN: Mapping[UUID, UUID] = {}
_SUPERSEDED = MemoryState.SUPERSEDED.value


class SqlSearchReads:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def still_there(self, project_id: UUID, where: Node, ids: Sequence[UUID]) -> list[Recalled]:
        """Those of `ids` that belong to the project and satisfy the filter now, without embeddings, in any order."""
        statement = _SELECT.where(
            _MEMORIES.c.project_id == project_id,
            _MEMORIES.c.id == any_(_array(ids)),
            compile_sql(where),
            _MEMORIES.c.state != "deleted",
        )
        shared = {id_: id_ for id_ in ids}  # one object an id: comparing them is then free
        return [_recalled(row, shared) for row in self._connection.execute(statement).all()]

    def whole_scope(
        self, project_id: UUID, where: Node, most: int, model: str, dims: int
    ) -> tuple[list[Recalled], Matrix]:
        """As the port says, in one statement, so that the count, the model and the rows are of one moment."""
        scope = single_scope(where)
        if scope is None:
            raise ValueError("the filter pins no scope")
        mine = and_(_MEMORIES.c.project_id == project_id, _MEMORIES.c.scope_key == scope.key)
        counted = select(func.count()).select_from(select(_MEMORIES.c.id).where(mine).limit(most + 1).subquery())
        in_force = exists().where(
            _COLLECTIONS.c.role == "active",
            _COLLECTIONS.c.embedding_model == model,
            _COLLECTIONS.c.dims == dims,
        )
        statement = select(*_LIGHT, _MEMORIES.c.embedding.label("vector")).where(
            _MEMORIES.c.project_id == project_id,
            compile_sql(where),
            _MEMORIES.c.state != "deleted",
            func.octet_length(_MEMORIES.c.embedding) == dims * _FLOAT_BYTES,
            in_force,
            counted.scalar_subquery() <= most,
        )
        rows = self._connection.execute(statement).all()
        vectors = np.frombuffer(b"".join(row.vector for row in rows), dtype="<f4").reshape(len(rows), dims)
        return [_recalled(row[:-1]) for row in rows], vectors

    def vectors(self, project_id: UUID, ids: Sequence[UUID], dims: int) -> dict[UUID, Matrix]:
        """The stored vectors of those of `ids` that have so many dimensions, float32 of shape (dims,)."""
        statement = select(_MEMORIES.c.id, _MEMORIES.c.embedding).where(
            _MEMORIES.c.project_id == project_id,
            _MEMORIES.c.id == any_(_array(ids)),
            func.octet_length(_MEMORIES.c.embedding) == dims * _FLOAT_BYTES,
        )
        return {row.id: np.frombuffer(row.embedding, dtype="<f4") for row in self._connection.execute(statement)}


def _array(ids: Sequence[UUID]) -> ColumnElement[Any]:
    """As one string: the driver takes long over an array of objects."""
    return cast(literal(f"{{{','.join(map(str, ids))}}}", Text), ARRAY(Uuid))


def _recalled(row: Sequence[Any], ids: Mapping[UUID, UUID] = _NONE_KNOWN) -> Recalled:
    (
        id_, text, scope_key, lane_key, position, said_at, created_at, run_id,
        actor_id, event_date, state, replaced_by, valid_to, expiration_date,
    ) = _RANKED(row)  # fmt: skip
    return Recalled(
        ids.get(id_, id_),
        text,
        scope_key,
        lane_key,
        position,
        said_at or created_at,
        run_id,
        actor_id,
        event_date,
        state == _SUPERSEDED,
        replaced_by,
        valid_to,
        expiration_date,
        partial(_memory, row),
    )


def _memory(row: Sequence[Any]) -> Memory:
    values = dict(zip(_NAMES, row, strict=True))
    parsed = {name: parse(values[name]) for name, parse in _PARSED.items() if values[name] is not None}
    return memory_of(values | parsed)
