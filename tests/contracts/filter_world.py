"""The same memories in PostgreSQL, in Qdrant and in a list, to be asked the same question."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from qdrant_client import QdrantClient, models
from sqlalchemy import select

from core.adapters.qdrant_filter import compile_filter, unindexed
from core.adapters.sql.database import SqlDatabase
from core.adapters.sql.filter_sql import compile_sql
from core.adapters.sql.tables import MemoryRow
from core.domain.filter_eval import evaluate
from core.domain.filters import Node
from core.domain.memory import Memory
from core.domain.payload import payload_of

_ROWS = MemoryRow.__table__  # type: ignore[attr-defined]


@dataclass(frozen=True)
class World:
    """The same memories in all three places."""

    database: SqlDatabase
    qdrant: QdrantClient
    memories: list[Memory]

    def in_python(self, node: Node) -> set[UUID]:
        return {memory.id for memory in self.memories if evaluate(node, memory)}

    def in_postgres(self, node: Node) -> set[UUID]:
        project_id = self.memories[0].project_id
        statement = select(_ROWS.c.id).where(_ROWS.c.project_id == project_id, compile_sql(node))
        with self.database.transaction(project_id) as transaction:
            return set(transaction.connection.execute(statement).scalars())

    def in_qdrant(self, node: Node) -> set[UUID]:
        resolved = {leaf: sorted(self.in_postgres(leaf)) for leaf in unindexed(node)}
        points, _ = self.qdrant.scroll("memories", compile_filter(node, resolved), limit=len(self.memories) + 1)
        return {UUID(str(point.id)) for point in points}

    def assert_one_answer(self, node: Node) -> set[UUID]:
        """All three select the same rows, which are returned."""
        expected = self.in_python(node)
        assert self.in_postgres(node) == expected
        assert self.in_qdrant(node) == expected
        return expected


def world_of(database: SqlDatabase, memories: list[Memory]) -> World:
    with database.transaction(memories[0].project_id) as transaction:
        assert transaction.memories.add(memories) == {memory.id for memory in memories}
    qdrant = QdrantClient(":memory:")
    qdrant.create_collection("memories", vectors_config=models.VectorParams(size=1, distance=models.Distance.DOT))
    points = [models.PointStruct(id=str(m.id), vector=[1.0], payload=payload_of(m)) for m in memories]
    qdrant.upsert("memories", points)
    return World(database, qdrant, memories)
