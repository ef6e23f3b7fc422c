"""Requests that the local endpoint refuses: what is wrong → method, path, body, status."""

from __future__ import annotations

from typing import Any

from tests.contracts.index_points import DIMS

Case = tuple[str, str, Any, int]

_POINTS = "/collections/{name}/points"  # {name}: a collection that exists
DENSE, _WORDS = [0.5] * DIMS, {"indices": [1, 2], "values": [1.0, 2.0]}


def _upsert(vector: Any, **more: Any) -> Case:
    return ("PUT", _POINTS, {"points": [{"id": 1, "vector": vector}]} | more, 400)


def _words(indices: list[int], values: list[float]) -> Case:
    return _upsert({"bm25": {"indices": indices, "values": values}})


def _filtered(condition: Any) -> Case:
    return ("POST", f"{_POINTS}/count", {"filter": {"must": [condition]}}, 400)


def _query(**body: Any) -> Case:
    return ("POST", f"{_POINTS}/query", {"query": DENSE, "using": "dense"} | body, 400)


def _collection(name: str, body: Any, status: int = 400) -> Case:
    return ("PUT", f"/collections/{name}", body, status)


_FOUR = {"vectors": {"dense": {"size": 4, "distance": "Dot"}}}
_ROUTES: dict[str, Case] = {
    "missing collection": ("PUT", "/collections/absent/points", {"points": []}, 404),
    "missing collection, query": ("POST", "/collections/absent/points/query/batch", {"searches": []}, 404),
    "unknown route": ("GET", "/collections/{name}/snapshots", None, 404),
    "wrong method": ("PATCH", "/collections", None, 405),
    "not JSON": ("PUT", _POINTS, "{", 400),
    "NaN": ("PUT", _POINTS, '{"points": [{"id": 1, "vector": {"dense": [NaN]}}]}', 400),
    "not an object": ("PUT", _POINTS, "[]", 400),
}
_WRITES: dict[str, Case] = {
    "points missing": ("PUT", _POINTS, {}, 400),
    "points not a list": ("PUT", _POINTS, {"points": {"id": 1}}, 400),
    "a point that is no object": ("PUT", _POINTS, {"points": [1]}, 400),
    "dimensions": _upsert({"dense": [1.0]}),
    "unknown vector": _upsert({"other": DENSE}),
    "unnamed vector": _upsert(DENSE),
    "words in a vector": _upsert({"dense": ["x"] * DIMS}),
    "beyond float32": _upsert({"dense": [1e39] * DIMS}),
    "uneven sparse": _words([1, 2], [1.0]),
    "repeated index": _words([1, 1], [1.0, 2.0]),
    "negative index": _words([-1], [1.0]),
    "index beyond 32 bits": _words([2**32], [1.0]),
    "sparse of another shape": _upsert({"bm25": [1.0]}),
    "payload that is no object": ("PUT", _POINTS, {"points": [{"id": 1, "vector": {}, "payload": [1]}]}, 400),
    "bad id": ("PUT", _POINTS, {"points": [{"id": "x", "vector": {"dense": DENSE}}]}, 400),
    "no id": ("PUT", _POINTS, {"points": [{"vector": {"dense": DENSE}}]}, 400),
    "uneven batch": ("PUT", _POINTS, {"batch": {"ids": [1, 2], "vectors": {"dense": [DENSE]}}}, 400),
    "conditional upsert": _upsert({"dense": DENSE}, update_filter={"must": []}),
    "delete without selector": ("POST", f"{_POINTS}/delete", {}, 400),
    "payload missing": ("POST", f"{_POINTS}/payload", {"points": [1]}, 400),
    "vectors of an unknown point": (
        "PUT",
        f"{_POINTS}/vectors",
        {"points": [{"id": 404, "vector": {"dense": DENSE}}]},
        404,
    ),
    "unknown batch operation": ("POST", f"{_POINTS}/batch", {"operations": [{"explode": {}}]}, 400),
}
_READS: dict[str, Case] = {
    "unknown filter clause": ("POST", f"{_POINTS}/count", {"filter": {"mus": []}}, 400),
    "unknown condition": _filtered({"key": "a", "geo_radius": {}}),
    "unknown match": _filtered({"key": "a", "match": {"text": "x"}}),
    "float match": _filtered({"key": "a", "match": {"value": 1.5}}),
    "any of booleans": _filtered({"key": "a", "match": {"any": [True]}}),
    "any of one": _filtered({"key": "a", "match": {"any": "x"}}),
    "date range": _filtered({"key": "a", "range": {"gt": "2026-01-01"}}),
    "range of no bounds": _filtered({"key": "a", "range": {"between": 1}}),
    "empty condition": _filtered({"key": "a"}),
    "condition that is no object": _filtered("a"),
    "bad id in has_id": _filtered({"has_id": ["x"]}),
    "query dimensions": _query(query=[1.0]),
    "query of an unknown vector": _query(using="other"),
    "prefetch": _query(prefetch=[]),
    "query by id": _query(query=1),
    "negative limit": _query(limit=-1),
    "huge limit": _query(limit=2**64),
    "bad corpus": _query(query=_WORDS, using="bm25", params={"idf": {"corpus": {"x": 1}}}),
    "unknown parameter": _query(params={"speed": 1}),
    "scroll by order": ("POST", f"{_POINTS}/scroll", {"order_by": "created_at"}, 400),
    "retrieve without ids": ("POST", _POINTS, {}, 400),
}
_COLLECTIONS: dict[str, Case] = {
    "collection exists": _collection("{name}", _FOUR, 409),
    "path in a name": _collection("..%2Fx", _FOUR, 404),
    "hidden collection": _collection(".x", _FOUR),
    "no vectors": _collection("new", {}),
    "unnamed vectors": _collection("new", {"vectors": {"size": 4, "distance": "Dot"}}),
    "vectors that are no object": _collection("new", {"vectors": [4]}),
    "no dimensions": _collection("new", {"vectors": {"dense": {"size": 0, "distance": "Dot"}}}),
    "unknown distance": _collection("new", {"vectors": {"dense": {"size": 4, "distance": "Far"}}}),
    "unknown modifier": _collection("new", {"sparse_vectors": {"words": {"modifier": "tf"}}}),
    "unknown index type": (
        "PUT",
        "/collections/{name}/index",
        {"field_name": "a", "field_schema": "text"},
        400,
    ),
}
REFUSED: dict[str, Case] = _ROUTES | _WRITES | _READS | _COLLECTIONS
