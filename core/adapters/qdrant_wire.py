"""The two hot requests of Qdrant's REST protocol, upsert and query, as bytes; and the answer to a query.

qdrant-client's models of them are pydantic's: made, checked and written number by number, they take four times
the processor time of this module and spell float32 with 17 digits. Filters stay the client's models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
import orjson
from qdrant_client import models as q

from core.ports.index import IndexHit, IndexPoint, IndexUnavailable, SparseVector

DENSE = "dense"
SPARSE = ("bm25", "bm25_ctx", "entity")


@dataclass(frozen=True)
class Search:
    """One list of a batch: the nearest points to `vector` among those named `using`."""

    using: str
    vector: Any  # as `wire_vector` makes it


def wire_vector(vector: Any) -> Any:
    """A dense or sparse vector as orjson takes it."""
    if isinstance(vector, SparseVector):
        return {"indices": vector.indices, "values": vector.values}
    return np.ascontiguousarray(vector, dtype=np.float32)


def sparse_vectors(holder: Any) -> dict[str, Any]:
    """The sparse vectors of a point or query by name. Empty ones are left out: on a point they would count as a
    document in the IDF, and in a query they match nothing."""
    found = {name: getattr(holder, name) for name in SPARSE}
    return {name: wire_vector(vector) for name, vector in found.items() if vector is not None and vector.indices}


def upsert_body(points: Sequence[IndexPoint]) -> bytes:
    rows = [
        {
            "id": point.id,
            "vector": {DENSE: wire_vector(point.dense)} | sparse_vectors(point),
            "payload": dict(point.payload),
        }
        for point in points
    ]
    return orjson.dumps({"points": rows}, option=orjson.OPT_SERIALIZE_NUMPY)


def query_body(searches: Sequence[Search], where: q.Filter, limit: int, corpus: q.Filter | None = None) -> bytes:
    """Searches under one filter. `corpus`: the points whose words the IDF of sparse vectors counts."""
    condition = _fragment(where)
    params = {"idf": {"corpus": _fragment(corpus)}} if corpus is not None else None
    rows: list[dict[str, Any]] = []
    for search in searches:
        row = {"query": {"nearest": search.vector}, "using": search.using, "filter": condition, "limit": limit}
        if params is not None and search.using != DENSE:
            row["params"] = params
        rows.append(row)
    return orjson.dumps({"searches": rows}, option=orjson.OPT_SERIALIZE_NUMPY)


def _fragment(filter_: q.Filter) -> orjson.Fragment:
    return orjson.Fragment(filter_.model_dump_json(exclude_unset=True, exclude_none=True))


def query_hits(answer: dict[str, Any], expected: int) -> list[list[IndexHit]]:
    """The lists of an answer to `query_body`. Raises IndexUnavailable when it is not of that shape."""
    ids: dict[str, UUID] = {}  # a point is in several lists
    try:
        lists = [
            [
                IndexHit(ids.get(hit["id"]) or ids.setdefault(hit["id"], UUID(hit["id"])), hit["score"])
                for hit in found
            ]
            for found in (answered["points"] for answered in answer["result"])
        ]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise IndexUnavailable(f"the answer to a query is not of its shape: {error!r}") from error
    if len(lists) != expected:
        raise IndexUnavailable(f"{expected} searches were answered with {len(lists)} lists")
    return lists


def point_of(record: dict[str, Any]) -> IndexPoint:
    """A point as it was asked for, vectors included; a sparse vector that the index does not hold is empty."""
    vectors = record["vector"]
    found = {name: SparseVector(**vectors[name]) if name in vectors else SparseVector([], []) for name in SPARSE}
    return IndexPoint(id=UUID(str(record["id"])), dense=vectors[DENSE], payload=record.get("payload") or {}, **found)
