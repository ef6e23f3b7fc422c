"""The same memories in PostgreSQL, in two Qdrants and in a list, to be asked the same question."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from qdrant_client import QdrantClient, models
from sqlalchemy import select

from core.adapters.qdrant import QdrantIndex
from core.adapters.qdrant_filter import compile_filter
from core.adapters.sql.database import SqlDatabase
from core.adapters.sql.filter_sql import compile_sql
from core.adapters.sql.tables import MemoryRow
from core.domain.filter_eval import evaluate
from core.domain.filters import Node
from core.domain.memory import Memory
from core.domain.payload import payload_of, unindexed
from core.ports.index import IndexPoint, IndexQuery, SparseVector

_ROWS = MemoryRow.__table__  # type: ignore[attr-defined]
_NAME = "memories"
_VECTOR = np.ones(2, dtype=np.float32)


@dataclass(frozen=True)
class IndexPlace:
    """A collection of the engine in use; worlds are told apart by their projects."""

    index: QdrantIndex
    collection: str


@dataclass(frozen=True)
class World:
    """One project's memories. `oracle` is qdrant-client's own `:memory:` mode, `place` the engine in use."""

    memories: list[Memory]
    database: SqlDatabase
    oracle: QdrantClient
    place: IndexPlace

    @property
    def project_id(self) -> UUID:
        return self.memories[0].project_id

    def in_python(self, node: Node) -> set[UUID]:
        return {memory.id for memory in self.memories if evaluate(node, memory)}

    def in_postgres(self, node: Node) -> set[UUID]:
        statement = select(_ROWS.c.id).where(_ROWS.c.project_id == self.project_id, compile_sql(node))
        with self.database.transaction(self.project_id) as transaction:
            return set(transaction.connection.execute(statement).scalars())

    def in_oracle(self, node: Node, resolved: dict[Node, list[UUID]]) -> set[UUID]:
        points, _ = self.oracle.scroll(_NAME, compile_filter(node, resolved), limit=len(self.memories) + 1)
        return {UUID(str(point.id)) for point in points}

    def in_index(self, node: Node, resolved: dict[Node, list[UUID]]) -> set[UUID]:
        query = IndexQuery(self.project_id, node, len(self.memories) + 1, dense=_VECTOR, ids=resolved)
        return {hit.id for hit in self.place.index.query(self.place.collection, query)["dense"]}

    def assert_one_answer(self, node: Node) -> set[UUID]:
        """All select the same rows, which are returned."""
        expected = self.in_python(node)
        assert self.in_postgres(node) == expected
        resolved = {leaf: sorted(self.in_postgres(leaf)) for leaf in unindexed(node)}
        assert self.in_oracle(node, resolved) == expected
        assert self.in_index(node, resolved) == expected
        return expected


@contextmanager
def place_in(index: QdrantIndex) -> Iterator[IndexPlace]:
    """A collection for as long as the block runs; making one takes longer than filling it."""
    index.ensure("filters", len(_VECTOR))
    yield IndexPlace(index, "filters")
    index.drop("filters")


@contextmanager
def world_of(memories: list[Memory], database: SqlDatabase, place: IndexPlace) -> Iterator[World]:
    """The memories stored and indexed, for as long as the block runs."""
    with database.transaction(memories[0].project_id) as transaction:
        transaction.memories.add(memories)  # once; the next place finds them there
    oracle = QdrantClient(":memory:")
    oracle.create_collection(_NAME, vectors_config=models.VectorParams(size=2, distance=models.Distance.COSINE))
    vector = _VECTOR.tolist()
    oracle.upsert(_NAME, [models.PointStruct(id=str(m.id), vector=vector, payload=payload_of(m)) for m in memories])
    none = SparseVector([], [])
    points = [IndexPoint(m.id, _VECTOR, none, none, payload_of(m)) for m in memories]
    place.index.upsert([place.collection], points)
    yield World(memories, database, oracle, place)
    oracle.close()
