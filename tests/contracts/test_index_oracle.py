"""The endpoint against qdrant-client's own in-memory mode: random points, writes, filters and queries, one answer."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from qdrant_client import QdrantClient
from qdrant_client import models as q

from tests.contracts.index_places import Endpoint

NAME, DIMS = "oracle", 4
INDEXED = {
    "word": q.PayloadSchemaType.KEYWORD,
    "number": q.PayloadSchemaType.INTEGER,
    "flag": q.PayloadSchemaType.BOOL,
}
FIELDS = ("word", "number", "flag", "plain")  # the last has no index: answers must not depend on one
BOUNDED = settings(
    deadline=None, max_examples=80, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

_words = st.sampled_from(["a", "b", "c"])
_numbers = st.integers(-2, 2)
_values = st.one_of(_words, _numbers, st.booleans())
_ABSENT = "absent"


def _typed(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Mostly one value; now and then null, a list, or no such field."""
    return st.one_of(values, values, values, st.none(), st.lists(values, max_size=2), st.just(_ABSENT))


# An indexed field holds values of its type alone: an index doesn't know of others, and so `except` misses them.
_payloads = st.fixed_dictionaries(
    {"word": _typed(_words), "number": _typed(_numbers), "flag": _typed(st.booleans()), "plain": _typed(_values)}
).map(lambda found: {name: value for name, value in found.items() if value != _ABSENT})
_ids = st.integers(0, 7).map(lambda number: str(UUID(int=number + 1)))
_numbers32 = st.integers(-8, 8).map(lambda number: number / 4)
_dense = st.lists(_numbers32, min_size=DIMS, max_size=DIMS).filter(any)
_sparse = st.dictionaries(
    st.integers(0, 5), st.integers(1, 8).map(lambda number: number / 4), min_size=1, max_size=4
).map(lambda found: q.SparseVector(indices=list(found), values=list(found.values())))
_points = st.builds(
    lambda id_, dense, words, payload: q.PointStruct(
        id=id_, vector={"dense": dense} | ({"words": words} if words else {}), payload=payload
    ),
    _ids,
    _dense,
    st.one_of(st.none(), _sparse),
    _payloads,
)
_several = st.lists(_points, min_size=3, max_size=8)
_bounds = st.dictionaries(st.sampled_from(["gt", "gte", "lt", "lte"]), _numbers, min_size=1, max_size=2)
_equal = st.one_of(
    st.tuples(st.just("word"), _words),
    st.tuples(st.just("number"), _numbers),
    st.tuples(st.just("flag"), st.booleans()),
    st.tuples(st.just("plain"), _values),
)
_leaves = st.one_of(
    _equal.map(lambda pair: q.FieldCondition(key=pair[0], match=q.MatchValue(value=pair[1]))),
    st.builds(
        lambda key, values: q.FieldCondition(key=key, match=q.MatchAny(any=values)),
        st.sampled_from(FIELDS),
        st.one_of(st.lists(_words, max_size=3), st.lists(_numbers, max_size=3)),
    ),
    st.builds(
        lambda key, values: q.FieldCondition(key=key, match=q.MatchExcept(**{"except": values})),
        st.sampled_from(FIELDS),
        st.one_of(st.lists(_words, min_size=1, max_size=2), st.lists(_numbers, min_size=1, max_size=2)),
    ),
    st.builds(
        lambda key, bounds: q.FieldCondition(key=key, range=q.Range(**bounds)), st.sampled_from(FIELDS), _bounds
    ),
    st.builds(lambda key: q.IsNullCondition(is_null=q.PayloadField(key=key)), st.sampled_from(FIELDS)),
    st.builds(lambda key: q.IsEmptyCondition(is_empty=q.PayloadField(key=key)), st.sampled_from(FIELDS)),
    st.builds(lambda ids: q.HasIdCondition(has_id=ids), st.lists(_ids, max_size=3, unique=True)),
)


def _nested(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[q.Filter]:
    some = st.one_of(st.none(), st.lists(parts, min_size=1, max_size=3))
    return st.builds(lambda must, should, never: q.Filter(must=must, should=should, must_not=never), some, some, some)


_filters = _nested(st.recursive(_leaves, _nested, max_leaves=5))


@dataclass
class Pair:
    """The same collection in two places; every write goes to both."""

    endpoint: QdrantClient
    memory: QdrantClient

    def fill(self, points: list[q.PointStruct]) -> None:
        for client in (self.endpoint, self.memory):
            client.delete(NAME, q.FilterSelector(filter=q.Filter()))
            if points:
                client.upsert(NAME, points)

    def stored(self, client: QdrantClient, where: q.Filter | None = None) -> dict[str, Any]:
        records, following = client.scroll(NAME, where, limit=100, with_vectors=True)
        assert following is None
        return {str(record.id): (record.payload, _rounded(record.vector)) for record in records}


def _rounded(vectors: Any) -> dict[str, Any]:
    """Cosine vectors are stored normalised, in 32 bits here and in the client's own way there."""
    found = {}
    for name, vector in vectors.items():
        if isinstance(vector, q.SparseVector):
            found[name] = dict(sorted(zip(vector.indices, vector.values, strict=True)))
        else:
            found[name] = [round(number, 4) + 0.0 for number in vector]
    return found


@pytest.fixture(scope="module")
def pair(qdrant_endpoint: Endpoint) -> Iterator[Pair]:
    headers = {"api-key": qdrant_endpoint.api_key}
    remote = QdrantClient(url=qdrant_endpoint.url, headers=headers, check_compatibility=False, timeout=60)
    both = Pair(remote, QdrantClient(":memory:"))
    for client in (both.endpoint, both.memory):
        client.create_collection(
            NAME,
            vectors_config={"dense": q.VectorParams(size=DIMS, distance=q.Distance.COSINE)},
            sparse_vectors_config={"words": q.SparseVectorParams(modifier=q.Modifier.IDF)},
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the in-memory mode says that it ignores payload indexes
        for client in (both.endpoint, both.memory):
            for field, schema in INDEXED.items():
                client.create_payload_index(NAME, field, schema)
    yield both
    both.endpoint.delete_collection(NAME)
    both.endpoint.close()
    both.memory.close()


@BOUNDED
@given(points=_several, where=_filters)
def test_a_filter_selects_the_same_points(pair: Pair, points: list[q.PointStruct], where: q.Filter) -> None:
    pair.fill(points)
    expected = pair.stored(pair.memory, where)
    assert pair.stored(pair.endpoint, where) == expected
    assert pair.endpoint.count(NAME, where).count == len(expected)


@BOUNDED
@given(points=_several, where=_filters, dense=_dense, words=_sparse, corpus=_filters)
def test_a_query_finds_the_same_points_in_the_same_order(
    pair: Pair,
    points: list[q.PointStruct],
    where: q.Filter,
    dense: list[float],
    words: q.SparseVector,
    corpus: q.Filter,
) -> None:
    """Dense by cosine, sparse by IDF over a corpus of its own; equal scores may change places."""
    pair.fill(points)
    params = q.SearchParams(idf=q.IdfCorpusParams(corpus=corpus))
    requests = [
        q.QueryRequest(query=q.NearestQuery(nearest=dense), using="dense", filter=where, limit=20),
        q.QueryRequest(query=q.NearestQuery(nearest=words), using="words", filter=where, limit=20, params=params),
    ]
    found, expected = (client.query_batch_points(NAME, requests) for client in (pair.endpoint, pair.memory))
    for mine, theirs in zip(found, expected, strict=True):
        scores = {str(point.id): point.score for point in theirs.points}
        assert {str(point.id): point.score for point in mine.points} == pytest.approx(scores, abs=1e-5)
        in_order = [scores[str(point.id)] for point in mine.points]
        assert in_order == pytest.approx([point.score for point in theirs.points], abs=1e-5)


_writes = st.one_of(
    st.builds(lambda point: ("upsert", [point]), _points),
    st.builds(lambda where: ("delete", q.FilterSelector(filter=where)), _filters),
    st.builds(lambda ids: ("delete", q.PointIdsList(points=ids)), st.lists(_ids, min_size=1, max_size=3)),
    st.builds(lambda where, values: ("set_payload", (values, q.FilterSelector(filter=where))), _filters, _payloads),
    st.builds(
        lambda where, values: ("overwrite_payload", (values, q.FilterSelector(filter=where))), _filters, _payloads
    ),
    st.builds(
        lambda where, key: ("delete_payload", ([key], q.FilterSelector(filter=where))),
        _filters,
        st.sampled_from(FIELDS),
    ),
    st.builds(lambda dense, words: ("update_vectors", (dense, words)), _dense, _sparse),
)


def _apply(client: QdrantClient, write: tuple[str, Any], known: list[str]) -> None:
    verb, values = write
    if verb in ("upsert", "delete"):
        getattr(client, verb)(NAME, values)
    elif verb == "update_vectors":
        client.update_vectors(
            NAME, [q.PointVectors(id=id_, vector={"dense": values[0], "words": values[1]}) for id_ in known]
        )
    else:
        getattr(client, verb)(NAME, *values)


@BOUNDED
@given(points=_several, writes=st.lists(_writes, min_size=1, max_size=4))
def test_writes_leave_the_same_points(pair: Pair, points: list[q.PointStruct], writes: list[tuple[str, Any]]) -> None:
    pair.fill(points)
    for write in writes:
        known = sorted(pair.stored(pair.memory))[:2]
        if write[0] == "update_vectors" and not known:
            continue
        for client in (pair.endpoint, pair.memory):
            _apply(client, write, known)
        assert pair.stored(pair.endpoint) == pair.stored(pair.memory)


def test_scrolling_by_pages_retrieving_and_counting_agree(pair: Pair) -> None:
    points = [
        q.PointStruct(id=str(UUID(int=number + 1)), vector={"dense": [1.0, 0, 0, number]}, payload={"number": number})
        for number in range(10)
    ]
    pair.fill(points)
    for client in (pair.endpoint, pair.memory):
        seen, offset = [], None
        while True:
            page, offset = client.scroll(NAME, limit=3, offset=offset, with_payload=["number"])
            seen += [(str(record.id), record.payload) for record in page]
            if offset is None:
                break
        assert seen == [(str(point.id), point.payload) for point in points]
        assert client.count(NAME).count == 10
        found = client.retrieve(NAME, [points[2].id, str(UUID(int=999))], with_payload=False)
        assert [(str(record.id), record.payload) for record in found] == [(str(points[2].id), None)]
        assert [found.name for found in client.get_collections().collections if found.name == NAME] == [NAME]
