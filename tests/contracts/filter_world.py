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
class World:
    """One project's memories. `oracle` is qdrant-client's own `:memory:` mode, `index` the engine in use."""

    memories: list[Memory]
    database: SqlDatabase
    oracle: QdrantClient
    index: QdrantIndex
    collection: str

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
        return {hit.id for hit in self.index.query(self.collection, query)["dense"]}

    def assert_one_answer(self, node: Node) -> set[UUID]:
        """All select the same rows, which are returned."""
        expected = self.in_python(node)
        assert self.in_postgres(node) == expected
        resolved = {leaf: sorted(self.in_postgres(leaf)) for leaf in unindexed(node)}
        assert self.in_oracle(node, resolved) == expected
        assert self.in_index(node, resolved) == expected
        return expected


@contextmanager
def world_of(memories: list[Memory], database: SqlDatabase, index: QdrantIndex) -> Iterator[World]:
    """The memories stored and indexed, for as long as the block runs."""
    with database.transaction(memories[0].project_id) as transaction:
        assert transaction.memories.add(memories) == {memory.id for memory in memories}
    oracle = QdrantClient(":memory:")
    oracle.create_collection(_NAME, vectors_config=models.VectorParams(size=2, distance=models.Distance.COSINE))
    vector = _VECTOR.tolist()
    oracle.upsert(_NAME, [models.PointStruct(id=str(m.id), vector=vector, payload=payload_of(m)) for m in memories])
    collection = f"filters_{memories[0].project_id.hex}"
    index.ensure(collection, len(_VECTOR))
    none = SparseVector([], [])
    index.upsert([collection], [IndexPoint(m.id, _VECTOR, none, none, payload_of(m)) for m in memories])
    yield World(memories, database, oracle, index, collection)
    index.drop(collection)
    oracle.close()
