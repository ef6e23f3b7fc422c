"""Points for the index contract: as the projection writes them, from a seeded generator."""

from __future__ import annotations

import random
from uuid import UUID

import numpy as np

from core.domain.ids import new_id
from core.domain.scope import ENTITY_FIELDS, Scope
from core.ports.index import IndexPoint, SparseVector
from core.ports.models import Matrix

DIMS = 16


def unit(rnd: random.Random, dims: int = DIMS) -> Matrix:
    vector = np.array([rnd.gauss(0, 1) for _ in range(dims)], dtype=np.float32)
    return vector / np.float32(np.linalg.norm(vector))


def sparse(rnd: random.Random, words: int, vocabulary: int) -> SparseVector:
    indices = rnd.sample(range(vocabulary), words)
    return SparseVector(indices, [round(rnd.uniform(0.2, 3.0), 3) for _ in indices])


def payload(rnd: random.Random, project: UUID, user: str) -> dict[str, object]:
    scope = Scope(user_id=user, run_id=rnd.choice([None, "r1", "r2"]))
    values: dict[str, object] = {
        "project": str(project),
        "scope_key": scope.key,
        "state": rnd.choice(["active", "active", "superseded"]),
        "created_at": rnd.randrange(1_000_000),
        "updated_at": rnd.randrange(1_000_000),
        "timestamp": rnd.randrange(1_000_000),
        "expiration": rnd.choice([20_000, 9_999_999]),
        "categories": sorted(rnd.sample(["food", "work", "travel"], rnd.randrange(3))),
        "meta": sorted(rnd.sample(["a=1", "a=2", "b=x"], rnd.randrange(3))),
    }
    values["has_categories"] = int(bool(values["categories"]))
    for field, value in scope.as_dict().items():
        values[f"has_{field}"] = int(value is not None)
        if value is not None:
            values[field] = value
    if rnd.random() < 0.5:
        values["event_date"] = rnd.randrange(19_000, 21_000)
    assert set(ENTITY_FIELDS) <= {name.removeprefix("has_") for name in values}
    return values


def point(rnd: random.Random, project: UUID, user: str = "u1", dims: int = DIMS) -> IndexPoint:
    """A point with every vector; one in four has no entity, one in four no context, as in life."""
    return IndexPoint(
        id=new_id(),
        dense=unit(rnd, dims),
        bm25=sparse(rnd, rnd.randrange(1, 8), 60),
        entity=sparse(rnd, rnd.choice([0, 1, 2, 3]), 20),
        bm25_ctx=sparse(rnd, 12, 60) if rnd.random() < 0.75 else None,
        payload=payload(rnd, project, user),
    )
