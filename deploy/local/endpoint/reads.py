"""Requests that read: query, scroll, retrieve, count, and what a collection is."""

from __future__ import annotations

from typing import Any

import qdrant_edge as edge

from deploy.local.endpoint.collections import Collection, Store
from deploy.local.endpoint.conditions import as_filter, optional_filter
from deploy.local.endpoint.errors import Refused, engine_errors, wrong_input
from deploy.local.endpoint.vectors import Schema

_QUERY_KEYS = {
    "query", "using", "filter", "params", "limit", "offset", "score_threshold", "with_payload", "with_vector",
}  # fmt: skip
_SPEED_PARAMS = {"hnsw_ef", "exact", "indexed_only", "quantization", "acorn"}  # scans are exact anyway
_SCROLL_KEYS = {"filter", "limit", "offset", "with_payload", "with_vector"}


def query_batch(collection: Collection, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Every search of the batch, in order: `[{"points": [{"id", "version", "score", …}, …]}, …]`."""
    searches = body.get("searches")
    if not isinstance(searches, list):
        raise wrong_input("`searches` is a list of queries")
    with engine_errors():
        requests = [_query_request(collection.schema, raw) for raw in searches]
        lists = collection.shard.query_batch(edge.QueryBatchRequest(requests)) if requests else []
        return [{"points": [_hit(point) for point in points]} for points in lists]


def query(collection: Collection, body: dict[str, Any]) -> dict[str, Any]:
    return query_batch(collection, {"searches": [body]})[0]


def _query_request(schema: Schema, raw: dict[str, Any]) -> edge.QueryRequest:
    _known(raw, _QUERY_KEYS)
    wanted, using = raw.get("query"), raw.get("using") or ""
    if isinstance(wanted, dict) and wanted.keys() == {"nearest"}:
        wanted = wanted["nearest"]
    if not isinstance(wanted, list | dict):
        raise wrong_input("only queries by a dense or sparse vector are supported by the local endpoint")
    return edge.QueryRequest(
        limit=_whole(raw, "limit", 10),
        offset=_whole(raw, "offset", 0),
        query=edge.Query.Nearest(schema.vector(using, wanted), using),
        filter=optional_filter(raw.get("filter")),
        score_threshold=raw.get("score_threshold"),
        params=_params(raw.get("params")),
        with_payload=_selection(raw.get("with_payload"), False),
        with_vector=_selection(raw.get("with_vector"), False),
    )


def _params(raw: dict[str, Any] | None) -> edge.SearchParams | None:
    """Of the search parameters only the IDF corpus changes an exact scan's answer."""
    if raw is None:
        return None
    _known(raw, _SPEED_PARAMS | {"idf"})
    idf = raw.get("idf")
    if idf is None or idf == "global":
        return None
    if not isinstance(idf, dict) or idf.keys() != {"corpus"}:
        raise wrong_input('params.idf is "global" or {"corpus": <filter>}')
    return edge.SearchParams(idf=edge.IdfParams(as_filter(idf["corpus"])))


def scroll(collection: Collection, body: dict[str, Any]) -> dict[str, Any]:
    """A page in the order of ids, and where the next one starts (null at the end)."""
    _known(body, _SCROLL_KEYS)
    with engine_errors():
        points, following = collection.shard.scroll(
            edge.ScrollRequest(
                offset=body.get("offset"),
                limit=_whole(body, "limit", 10),
                filter=optional_filter(body.get("filter")),
                with_payload=_selection(body.get("with_payload"), True),
                with_vector=_selection(body.get("with_vector"), False),
            )
        )
    return {"points": [_record(point) for point in points], "next_page_offset": following}


def retrieve(collection: Collection, body: dict[str, Any]) -> list[dict[str, Any]]:
    _known(body, {"ids", "with_payload", "with_vector"})
    if not isinstance(body.get("ids"), list):
        raise wrong_input("`ids` must be a list")
    with engine_errors():
        points = collection.shard.retrieve(
            body["ids"], _selection(body.get("with_payload"), True), _selection(body.get("with_vector"), False)
        )
    return [_record(point) for point in points]


def retrieve_one(collection: Collection, id_: str) -> dict[str, Any]:
    found = retrieve(collection, {"ids": [int(id_) if id_.isdecimal() else id_], "with_vector": True})
    if not found:
        raise Refused(404, f"Not found: Point with id {id_} does not exists!")
    return found[0]


def count(collection: Collection, body: dict[str, Any]) -> dict[str, int]:
    _known(body, {"filter", "exact"})
    with engine_errors():
        return {"count": collection.shard.count(edge.CountRequest(True, optional_filter(body.get("filter"))))}


def listing(store: Store) -> dict[str, Any]:
    return {"collections": [{"name": name} for name in store.names]}


def describe(collection: Collection) -> dict[str, Any]:
    """Qdrant's CollectionInfo; tuning that has no meaning for an unindexed shard shows Qdrant's defaults."""
    info = collection.shard.info()
    indexed = {
        name: {"data_type": str(index.data_type).rpartition(".")[2].lower(), "points": index.points}
        for name, index in info.payload_schema.items()
    }
    return {
        "status": "green",
        "optimizer_status": "ok",
        "points_count": info.points_count,
        "indexed_vectors_count": 0,
        "segments_count": info.segments_count,
        "payload_schema": indexed,
        "config": {
            "params": {
                "vectors": collection.schema.dense,
                "sparse_vectors": collection.schema.sparse,
                "shard_number": 1,
                "replication_factor": 1,
                "write_consistency_factor": 1,
            },
            "hnsw_config": {"m": 0, "ef_construct": 100, "full_scan_threshold": 10000},
            "optimizer_config": {"default_segment_number": 1, "flush_interval_sec": 10},
            "wal_config": {"wal_capacity_mb": 32, "wal_segments_ahead": 0},
        },
    }


def _hit(point: edge.ScoredPoint) -> dict[str, Any]:
    hit: dict[str, Any] = {"id": point.id, "version": point.version, "score": point.score}
    return hit | _details(point)


def _record(point: edge.Record) -> dict[str, Any]:
    return {"id": point.id} | _details(point)


def _details(point: Any) -> dict[str, Any]:
    details: dict[str, Any] = {}
    payload, vector = point.payload, point.vector
    if payload is not None:
        details["payload"] = payload
    if vector is not None:
        details["vector"] = {name: _plain(value) for name, value in vector.items()}
    return details


def _plain(vector: Any) -> Any:
    if isinstance(vector, edge.SparseVector):
        return {"indices": vector.indices, "values": vector.values}
    return vector


def _selection(raw: Any, default: bool) -> Any:
    """True, False, or the names wanted."""
    if raw is None:
        return default
    if isinstance(raw, bool) or (isinstance(raw, list) and all(isinstance(name, str) for name in raw)):
        return raw
    raise wrong_input("with_payload and with_vector are true, false or a list of names")


def _whole(raw: dict[str, Any], key: str, default: int) -> int:
    value = raw.get(key)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise wrong_input(f"`{key}` is a whole number")
    return value


def _known(raw: dict[str, Any], keys: set[str]) -> None:
    """Ignoring what is not understood would give a wrong answer without a word."""
    if not isinstance(raw, dict):
        raise wrong_input("expected an object")
    unknown = [key for key in raw.keys() - keys if raw[key] is not None]
    if unknown:
        raise wrong_input(f"{', '.join(sorted(unknown))}: not supported by the local endpoint")
