"""The port VectorIndex: what every index keeps, on the local endpoint and on a Qdrant server (QDRANT_URL)."""

from __future__ import annotations

import random
from uuid import UUID

import pytest

from core.adapters.qdrant import QdrantIndex
from core.domain.filters import Cond
from core.domain.ids import new_id
from core.ports.index import IndexHit, IndexQuery
from tests.contracts.index_points import point

OF_U1 = Cond("user_id", "eq", "u1")


def ids_of(hits: list[IndexHit]) -> list[UUID]:
    return [hit.id for hit in hits]


def test_points_are_found_as_soon_as_upsert_returns(index: QdrantIndex, collection: str) -> None:
    rnd, project = random.Random(1), new_id()
    points = [point(rnd, project) for _ in range(20)]
    index.upsert([collection], points)
    for wanted in points:
        lists = index.query(collection, IndexQuery(project, OF_U1, 20, dense=wanted.dense, bm25=wanted.bm25))
        assert lists["dense"][0].id == wanted.id
        assert lists["dense"][0].score == pytest.approx(1.0, abs=1e-5)
        assert wanted.id in ids_of(lists["bm25"])
