"""The vector index on Qdrant (server, cluster or the local endpoint), through qdrant-client's REST side alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any
from uuid import UUID

import httpx
import orjson
from qdrant_client import QdrantClient
from qdrant_client import models as q
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException

from core.adapters.qdrant_filter import compile_filter
from core.adapters.qdrant_wire import (
    DENSE,
    SPARSE,
    Search,
    point_of,
    query_body,
    query_hits,
    sparse_vectors,
    upsert_body,
    wire_vector,
)
from core.ports.index import IndexHit, IndexLists, IndexPoint, IndexQuery, IndexUnavailable
from core.ports.models import Matrix

UPSERT_POINTS, SCROLL_POINTS = 32, 1000  # points in one request; small upserts let searches in between
SETUP_SECONDS = 60  # making and removing collections and indexes syncs many files, or builds them
_KEEP_ALIVE_SECONDS = 30.0  # below the idle time-out of servers, so that no request meets a closing connection

_KEYWORDS = ("scope_key", "user_id", "agent_id", "app_id", "run_id", "state", "replaced_kind", "categories", "meta")
_FLAGS = ("has_user_id", "has_agent_id", "has_app_id", "has_run_id", "has_categories")  # 0 or 1
_INTEGERS = (*_FLAGS, "created_at", "updated_at", "timestamp", "expiration", "event_date")


def _payload_indexes() -> dict[str, q.PayloadSchemaParams]:
    """One index per payload field; only the project's carries search graphs, as every query names its project."""
    indexes: dict[str, q.PayloadSchemaParams] = {
        "project": q.KeywordIndexParams(type=q.KeywordIndexType.KEYWORD, is_tenant=True)
    }
    for name in _KEYWORDS:
        indexes[name] = q.KeywordIndexParams(type=q.KeywordIndexType.KEYWORD, enable_hnsw=False)
    for name in _INTEGERS:
        indexes[name] = q.IntegerIndexParams(type=q.IntegerIndexType.INTEGER, enable_hnsw=False)
    return indexes


class QdrantIndex:
    """Implements core.ports.index.VectorIndex. One instance serves all threads of a process.

    `timeout` in seconds bounds connecting, sending and each wait for the answer, of every request.
    """

    def __init__(self, url: str, api_key: str | None = None, timeout: int = 5, connections: int = 32) -> None:
        self._client = QdrantClient(
            url=url,
            # as a header of ours: `api_key=` warns about plain HTTP, which on loopback is meant
            headers={"api-key": api_key} if api_key else None,
            timeout=timeout,
            check_compatibility=False,  # a request of its own from a thread; `memlane doctor` compares versions
            # the client's default closes the connection after every request to localhost
            limits=httpx.Limits(
                max_connections=connections,
                max_keepalive_connections=connections,
                keepalive_expiry=_KEEP_ALIVE_SECONDS,
            ),
        )
        self._client.http.client.add_middleware(_once_more)

    def close(self) -> None:
        self._client.close()

    def version(self) -> str:
        """What the server says it is; for readiness and `memlane doctor`."""
        with _unavailable():
            return self._client.info().version

    def exists(self, collection: str) -> bool:
        with _unavailable():
            return self._client.collection_exists(collection)

    def ensure(self, collection: str, dims: int) -> None:
        with _unavailable():
            if not self._client.collection_exists(collection):
                self._create(collection, dims)
            info = self._client.get_collection(collection)
            self._check_dims(collection, info, dims)
            for field, schema in _payload_indexes().items():
                if field not in info.payload_schema:
                    _check_completed(self._index_field(collection, field, schema).status)

    def _index_field(self, collection: str, field: str, schema: q.PayloadSchemaParams) -> q.UpdateResult:
        return self._client.create_payload_index(collection, field, schema, wait=True, timeout=SETUP_SECONDS)

    def _create(self, collection: str, dims: int) -> None:
        try:
            self._client.create_collection(
                collection,
                vectors_config={DENSE: q.VectorParams(size=dims, distance=q.Distance.COSINE)},
                sparse_vectors_config={name: q.SparseVectorParams(modifier=q.Modifier.IDF) for name in SPARSE},
                # every search is within one project: graphs per tenant, none across tenants
                hnsw_config=q.HnswConfigDiff(m=0, payload_m=16),
                timeout=SETUP_SECONDS,
            )
        except ApiException:
            if not self._client.collection_exists(collection):  # another process was first: fine
                raise

    @staticmethod
    def _check_dims(collection: str, info: q.CollectionInfo, dims: int) -> None:
        vectors = info.config.params.vectors
        found = vectors[DENSE].size if isinstance(vectors, dict) and DENSE in vectors else None
        if found != dims:
            raise IndexUnavailable(f"collection {collection} holds vectors of {found} dimensions, not {dims}")

    def upsert(self, collections: Sequence[str], points: Sequence[IndexPoint]) -> None:
        rest = iter(points)
        while batch := list(islice(rest, UPSERT_POINTS)):
            body = upsert_body(batch)
            for collection in collections:
                answer = self._send("PUT", "/collections/{collection_name}/points?wait=true", collection, body)
                _check_completed((answer.get("result") or {}).get("status"))

    def _send(self, method: str, path: str, collection: str, body: bytes) -> dict[str, Any]:
        """A request with its body made beforehand (qdrant_wire), by the method that the whole client uses."""
        with _unavailable():
            answer: dict[str, Any] = self._client.http.client.request(
                type_=dict,
                method=method,
                url=path,
                path_params={"collection_name": collection},
                headers={"Content-Type": "application/json"},
                content=body,
            )
        return answer

    def delete(self, collections: Sequence[str], ids: Sequence[UUID]) -> None:
        if not ids:
            return
        selector = q.PointIdsList(points=[str(id_) for id_ in ids])
        for collection in collections:
            with _unavailable():
                _check_completed(self._client.delete(collection, selector, wait=True).status)

    def query(self, collection: str, query: IndexQuery) -> IndexLists:
        lists: IndexLists = {name: [] for name in (DENSE, *SPARSE) if getattr(query, name) is not None}
        searches = [Search(name, vector) for name, vector in sparse_vectors(query).items()]
        if query.dense is not None:
            searches.insert(0, Search(DENSE, wire_vector(query.dense)))
        if searches:
            corpus = q.Filter(must=[_in_project(query.project_id)])
            body = query_body(searches, _within_project(query), query.limit, corpus)
            found = self._query_batch(collection, body, len(searches))
            lists |= {search.using: hits for search, hits in zip(searches, found, strict=True)}
        return lists

    def nearest(
        self, collection: str, project_id: UUID, scope_keys: Sequence[str], vectors: Matrix, limit: int
    ) -> list[list[IndexHit]]:
        if not len(vectors):
            return []
        where = q.Filter(
            must=[
                _in_project(project_id),
                q.FieldCondition(key="scope_key", match=q.MatchAny(any=list(scope_keys))),
                q.FieldCondition(key="state", match=q.MatchValue(value="active")),
            ]
        )
        body = query_body([Search(DENSE, wire_vector(row)) for row in vectors], where, limit)
        return self._query_batch(collection, body, len(vectors))

    def _query_batch(self, collection: str, body: bytes, searches: int) -> list[list[IndexHit]]:
        answer = self._send("POST", "/collections/{collection_name}/points/query/batch", collection, body)
        return query_hits(answer, searches)

    def scroll(self, collection: str, project_id: UUID | None = None) -> Iterator[tuple[UUID, dict[str, Any]]]:
        where = None if project_id is None else q.Filter(must=[_in_project(project_id)])
        offset: Any = None
        while True:
            with _unavailable():
                records, offset = self._client.scroll(
                    collection, scroll_filter=where, limit=SCROLL_POINTS, offset=offset
                )
            for record in records:
                yield UUID(str(record.id)), record.payload or {}
            if offset is None:
                return

    def fetch(self, collection: str, ids: Sequence[UUID]) -> dict[UUID, IndexPoint]:
        body = orjson.dumps({"ids": list(ids), "with_payload": True, "with_vector": True})
        answer = self._send("POST", "/collections/{collection_name}/points", collection, body)
        return {point.id: point for point in map(point_of, answer.get("result") or ())}

    def names(self) -> list[str]:
        with _unavailable():
            return [found.name for found in self._client.get_collections().collections]

    def drop(self, collection: str) -> None:
        with _unavailable():
            self._client.delete_collection(collection, timeout=SETUP_SECONDS)


def _once_more(request: httpx.Request, send: Callable[[httpx.Request], httpx.Response]) -> httpx.Response:
    """A server may close an idle connection at the moment it is used again. All requests here can be sent twice."""
    try:
        return send(request)
    except ResponseHandlingException as error:
        if not isinstance(error.source, httpx.RemoteProtocolError):
            raise
        return send(request)


@contextmanager
def _unavailable() -> Iterator[None]:
    """Connection trouble, time-outs and refusals become IndexUnavailable; the client wraps httpx's errors."""
    try:
        yield
    except (ApiException, QdrantException, json.JSONDecodeError) as error:
        raise IndexUnavailable(f"{type(error).__name__}: {error}") from error


def _check_completed(status: str | None) -> None:
    if status != q.UpdateStatus.COMPLETED:
        raise IndexUnavailable(f"the update was not completed: {status}")


def _in_project(project_id: UUID) -> q.FieldCondition:
    return q.FieldCondition(key="project", match=q.MatchValue(value=str(project_id)))


def _within_project(query: IndexQuery) -> q.Filter:
    """The caller's filter and the project, side by side: nothing a caller writes can widen it."""
    compiled = compile_filter(query.where, query.ids)
    must = compiled.must if isinstance(compiled.must, list) else [compiled.must] if compiled.must else []
    return compiled.model_copy(update={"must": [_in_project(query.project_id), *must]})
