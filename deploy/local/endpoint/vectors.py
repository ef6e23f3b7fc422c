"""Vectors of points and queries, checked against the collection's schema before the engine sees them.

The binding takes too much on trust: sparse lists of unequal length panic and leave a folder that can't be
opened any more, and a batch with one wrong dimension is applied up to that point.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from deploy.local.endpoint.errors import wrong_input

_FLOAT32_MAX = 3.4028234e38


@dataclass(frozen=True)
class Schema:
    """The named vectors of a collection: dense ones with their size, sparse ones."""

    dense: dict[str, dict[str, Any]]  # name → {"size": 384, "distance": "Cosine"}
    sparse: dict[str, dict[str, Any]]  # name → {"modifier": "idf"} or {}

    @classmethod
    def of_folder(cls, folder: Path) -> Schema:
        stored = json.loads((folder / "edge_config.json").read_text())
        return cls(stored.get("vectors") or {}, stored.get("sparse_vectors") or {})

    @classmethod
    def of_request(cls, body: dict[str, Any]) -> Schema:
        """From the body of "create collection"; only named vectors are supported."""
        dense, sparse = body.get("vectors") or {}, body.get("sparse_vectors") or {}
        if not isinstance(dense, dict) or not isinstance(sparse, dict):
            raise wrong_input("vectors and sparse_vectors are objects: name → parameters")
        for name, params in dense.items():
            if not isinstance(params, dict) or not isinstance(params.get("size"), int) or params["size"] < 1:
                raise wrong_input(f"vectors.{name}: named vectors with a positive size are required")
            if params.get("distance") not in _DISTANCES:
                raise wrong_input(f"vectors.{name}.distance: one of {sorted(_DISTANCES)}")
        for name, params in sparse.items():
            if (params or {}).get("modifier") not in (None, "none", "idf"):
                raise wrong_input(f"sparse_vectors.{name}.modifier: idf or none")
        if not dense and not sparse:
            raise wrong_input("a collection needs at least one vector")
        return cls(dense, {name: params or {} for name, params in sparse.items()})

    def config(self) -> edge.EdgeConfig:
        """Searches run on the calling thread: a collection is one segment, and handing it to a pool costs four
        switches a query, each of which waits for a processor when workers keep all of them busy."""
        return edge.EdgeConfig(
            max_search_threads=1,
            vectors={
                name: edge.EdgeVectorParams(params["size"], _DISTANCES[params["distance"]])
                for name, params in self.dense.items()
            }
            or None,
            sparse_vectors={
                name: edge.EdgeSparseVectorParams(
                    modifier=edge.Modifier.Idf if params.get("modifier") == "idf" else None
                )
                for name, params in self.sparse.items()
            },
        )

    def vector(self, name: str, raw: Any) -> Any:
        """One vector as Edge takes it: a list of floats, or a SparseVector."""
        if name in self.dense:
            return _dense(name, raw, self.dense[name]["size"])
        if name in self.sparse:
            return _sparse(name, raw)
        raise wrong_input(f"Not existing vector name error: {name}")

    def named(self, raw: Any) -> dict[str, Any]:
        """The vectors of a point, name → vector."""
        if not isinstance(raw, dict):
            raise wrong_input("the vectors of a point are an object: name → vector")
        return {name: self.vector(name, value) for name, value in raw.items()}


def _dense(name: str, raw: Any, size: int) -> list[float]:
    if not isinstance(raw, list):
        raise wrong_input(f"vector {name}: expected a list of {size} numbers")
    if len(raw) != size:
        raise wrong_input(f"Vector dimension error: expected dim: {size}, got {len(raw)}")
    _finite(name, raw)
    return raw


def _sparse(name: str, raw: Any) -> edge.SparseVector:
    if not isinstance(raw, dict) or raw.keys() != {"indices", "values"}:
        raise wrong_input(f"vector {name}: expected indices and values")
    indices, values = raw["indices"], raw["values"]
    if not isinstance(indices, list) or not isinstance(values, list) or len(indices) != len(values):
        raise wrong_input(f"vector {name}: indices and values must be lists of one length")
    if len(set(indices)) != len(indices):
        raise wrong_input(f"vector {name}: indices must be unique")
    _finite(name, values)
    return edge.SparseVector(indices, values)


def _finite(name: str, values: list[float]) -> None:
    """Larger numbers become infinite in the engine's 32 bits and would poison every score they meet."""
    if math.hypot(*values) > _FLOAT32_MAX:
        raise wrong_input(f"vector {name}: a number is too large")


_DISTANCES = {
    "Cosine": edge.Distance.Cosine,
    "Euclid": edge.Distance.Euclid,
    "Dot": edge.Distance.Dot,
    "Manhattan": edge.Distance.Manhattan,
}
