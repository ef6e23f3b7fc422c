"""Where candidates come from: a small scope read whole, or the index; over real PostgreSQL and Qdrant Edge."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from core.adapters.qdrant import QdrantIndex
from core.domain.filter_parse import parse
from core.domain.filter_scope import scoped
from core.domain.filters import TRUE
from core.domain.ids import new_id
from core.domain.narrowing import Narrowing
from core.domain.ranking_params import DEFAULT
from core.ports.index import IndexLists, IndexQuery, SparseVector
from core.ports.models import Matrix
from core.services.project import project
from core.services.recall import Ask, recall
from core.services.search import SearchQuery, SearchResult, search
from core.services.whole_scope import WholeScope, read_whole
from core.text.query import analyse
from tests.doubles.fast import FastEmbedder
from tests.doubles.pipeline import Pipeline, make_pipeline

FOOD = [
    "I like green tea in the morning",
    "My favourite dish is mushroom risotto",
    "I cook lentil soup every Sunday",
    "I bake rye bread at home with Bertha",
    "Bertha makes the best apple pie",
    "I never drink coffee after noon",
    "I buy my vegetables at the farmers market",
]
ANN = scoped(parse({"user_id": "ann"}), strict=True)
FROM_INDEX = replace(DEFAULT, whole_factor=0)
SHORT = {"recall_factor": 0, "recall_least": 3}  # lists that are cut off, among seven memories


class _Grained(FastEmbedder):
    """No two texts are equally near a third, so that it is clear where a list is cut off."""

    def _vector(self, text: str) -> Matrix:
        grain = np.random.default_rng(zlib.crc32(text.encode())).normal(0, 0.02, self.dims)
        vector: Matrix = (super()._vector(text) + grain).astype(np.float32)
        return vector


STATES = """UPDATE memories m SET state = CASE WHEN memory LIKE '%coffee%' THEN 'superseded' ELSE state END,
    replaced_kind = CASE WHEN memory LIKE '%coffee%' THEN 'changed' END,
    replaced_by = CASE WHEN memory LIKE '%coffee%' THEN (SELECT id FROM memories t
        WHERE t.project_id = m.project_id AND t.user_id = m.user_id AND t.memory LIKE '%green tea%') END,
    expiration_date = CASE WHEN memory LIKE '%vegetables%' THEN DATE '2024-01-01' END
    WHERE project_id = :project AND user_id = 'ann'"""


@pytest.fixture(scope="module")
def food(own_place: tuple[str, QdrantIndex, str]) -> Iterator[Pipeline]:
    """A conversation of ann's, two later facts, one superseded memory and one that has expired; one of bob's."""
    url, index, prefix = own_place
    pipeline = make_pipeline(url, index, prefix, _Grained())
    talk = [{"role": "user", "content": content} for content in FOOD[:5]]
    pipeline.add(talk, infer=False, metadata={"parity": "even"}, timestamp=1_700_000_000)
    for number, content in enumerate(FOOD[5:]):
        later = 1_700_000_000 + (number + 1) * 86_400
        pipeline.add(content, infer=False, metadata={"parity": "odd"}, timestamp=later)
    pipeline.add("I like green tea and rye bread too", user="bob", infer=False)
    pipeline.drain()
    _change(pipeline, STATES)
    with pipeline.database.transaction(pipeline.project) as tx:
        ids = tx.memory_reads.ids(pipeline.project, TRUE)
        tx.projections.request(pipeline.project, ids)
    project(pipeline.runtime, pipeline.project, ids)
    yield pipeline
    pipeline.database.close()


def _change(pipeline: Pipeline, statement: str, **values: Any) -> None:
    with pipeline.database.operations() as tx:
        tx.connection.execute(text(statement), {"project": pipeline.project, **values})


def _asked(pipeline: Pipeline, query: str, filters: object = None, **options: Any) -> SearchQuery:
    return SearchQuery(pipeline.project, query, filters or {"user_id": "ann"}, datetime.now(UTC), **options)


def _scores(result: SearchResult) -> list[tuple[str, float]]:
    return [(hit.memory.memory, pytest.approx(hit.score, abs=1e-5)) for hit in result.hits]


QUERIES = ["green tea", "what does Bertha bake?", "what did I cook on Sunday?", "unheard-of"]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"threshold": 0.0},
    {"top_k": 2},
    {"filters": {"AND": [{"user_id": "ann"}, {"metadata": {"parity": "odd"}}]}, "threshold": 0.0},
    {"narrowing": Narrowing(keywords="rye"), "threshold": 0.0},
    {"narrowing": Narrowing(show_expired=True), "threshold": 0.0},
    {"narrowing": Narrowing(latest_only=True), "threshold": 0.0},
    {"as_of": datetime.fromtimestamp(1_700_000_000, UTC) + timedelta(days=1, hours=1), "threshold": 0.0},
]


@pytest.mark.parametrize("lists", [{}, SHORT], ids=["all listed", "lists cut off"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("query", QUERIES)
def test_a_scope_read_whole_answers_as_the_index_does(
    food: Pipeline, query: str, options: dict[str, Any], lists: dict[str, int]
) -> None:
    asked = _asked(food, query, **options)
    where = scoped(parse(asked.filters), strict=True)
    assert read_whole(food.runtime, food.project, where, 3 * 3) is not None, "else both go one way"
    whole = search(food.runtime, asked, replace(DEFAULT, **lists, whole_factor=3))
    recalled = search(food.runtime, asked, replace(FROM_INDEX, **lists))
    assert _scores(whole) == _scores(recalled)
    assert whole.notice == recalled.notice


class _Told:
    """An index that tells what it was asked for, and an embedder that answers only after it was asked for words."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._index: Any = pipeline.runtime.index
        self._embedder: Any = pipeline.runtime.models.embedder
        self.asked: list[set[str]] = []
        self._words = threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder if name in ("dims", "calibration", "name") else self._index, name)

    def query(self, collection: str, query: IndexQuery) -> IndexLists:
        lists: IndexLists = self._index.query(collection, query)
        self.asked.append(set(lists))
        if query.dense is None:
            self._words.set()
        return lists

    def embed_query(self, text: str) -> Any:
        assert self._words.wait(10), "nothing was recalled before the query had its vector"
        return self._embedder.embed_query(text)


WORDS = {"bm25", "bm25_ctx", "entity"}


@pytest.mark.parametrize(("params", "requests"), [(DEFAULT, [WORDS]), (FROM_INDEX, [WORDS, {"dense"}])])
def test_words_are_recalled_while_the_query_is_embedded(food: Pipeline, params: Any, requests: list[Any]) -> None:
    told: Any = _Told(food)
    runtime = replace(food.runtime, index=told, models=replace(food.runtime.models, embedder=told))
    asked = _asked(food, "green tea")
    result = search(runtime, asked, params)
    assert told.asked == requests
    assert _scores(result) == _scores(search(food.runtime, asked, params))


def _ask(pipeline: Pipeline, query: str) -> Ask:
    terms = analyse(query, datetime.now(UTC))
    words, names = SparseVector(*terms.terms), SparseVector(*terms.names)
    return Ask(pipeline.project, ANN, bm25=words, bm25_ctx=words, entity=names)


def test_a_vector_that_is_there_is_asked_with_in_one_request(food: Pipeline) -> None:
    told: Any = _Told(food)
    vector: Future[Matrix] = Future()
    vector.set_result(food.runtime.models.embedder.embed_query("green tea"))
    recall(replace(food.runtime, index=told), _ask(food, "green tea"), 3, FROM_INDEX, vector)
    assert told.asked == [{"dense", *WORDS}]


@pytest.mark.parametrize("query", QUERIES)
def test_lists_asked_for_apart_hold_what_one_request_holds(food: Pipeline, query: str) -> None:
    runtime, ask, vector = food.runtime, _ask(food, query), food.runtime.models.embedder.embed_query(query)
    under_way: Future[Matrix] = Future()
    found = recall(
        runtime, ask, 3, FROM_INDEX, under_way, lambda words, enough: under_way.set_result(vector)
    )  # the vector comes when words are done
    at_once = IndexQuery(
        food.project, ANN, DEFAULT.recall_least, vector, bm25=ask.bm25, bm25_ctx=ask.bm25_ctx, entity=ask.entity
    )
    lists = runtime.index.query(runtime.collections.current().active, at_once)
    assert found.scores == {name: {hit.id: hit.score for hit in hits} for name, hits in lists.items()}
    assert set(found.memories) == {hit.id for hits in lists.values() for hit in hits}
    assert found.dropped == 0


class _Meanwhile:
    """An index beside which somebody adds a memory, right before it is asked."""

    def __init__(self, pipeline: Pipeline, content: str) -> None:
        self._pipeline, self._content = pipeline, content

    def query(self, collection: str, query: IndexQuery) -> IndexLists:
        self._pipeline.add(self._content, infer=False)
        self._pipeline.drain()
        return self._pipeline.runtime.index.query(collection, query)


def test_what_is_added_after_a_scope_was_read_is_found_as_if_it_had_been_there(pipeline: Pipeline) -> None:
    pipeline.add(FOOD[0], infer=False)
    pipeline.drain()
    index: Any = _Meanwhile(pipeline, "I sell green tea now")
    result = search(replace(pipeline.runtime, index=index), _asked(pipeline, "green tea"))
    again = search(pipeline.runtime, _asked(pipeline, "green tea"))
    assert len(again.hits) == 2
    assert _scores(result) == _scores(again)
    assert result.dropped == 0
    assert pipeline.count("projections") == 0


def _stored(pipeline: Pipeline) -> Pipeline:
    pipeline.add([{"role": "user", "content": content} for content in FOOD], infer=False)
    pipeline.drain()
    return pipeline


@pytest.mark.parametrize(("query", "params"), [("green tea", DEFAULT), ("green tea", FROM_INDEX), ("x", FROM_INDEX)])
def test_a_stale_point_is_left_out_and_queued_for_repair(pipeline: Pipeline, query: str, params: Any) -> None:
    """Met by its words, or only by its vector."""
    _stored(pipeline)
    _change(pipeline, "UPDATE memories SET state = 'deleted' WHERE project_id = :project AND memory LIKE '%tea%'")
    told: Any = _Told(pipeline)
    short = replace(params, recall_least=len(FOOD), recall_factor=0, whole_factor=params.whole_factor)
    result = search(replace(pipeline.runtime, index=told), _asked(pipeline, query, threshold=0.0), short)
    assert [hit for hit in result.hits if "tea" in hit.memory.memory] == []
    assert result.dropped == 1
    assert pipeline.count("projections") == 1
    assert told.asked[-1] >= {"dense"}, "asked once more, for longer lists, as too few are left"


SPOILT = {"NULL": "a memory without a vector", "'\\x00'": "a vector of another size"}


@pytest.mark.parametrize("vector", SPOILT)
def test_what_cannot_be_compared_is_left_out_as_it_is_from_the_index(pipeline: Pipeline, vector: str) -> None:
    _stored(pipeline)
    spoilt = f"UPDATE memories SET embedding = {vector} WHERE project_id = :project AND memory LIKE '%tea%'"
    _change(pipeline, spoilt)
    found = read_whole(pipeline.runtime, pipeline.project, ANN, len(FOOD))
    assert found is not None
    assert {memory.text for memory in found.memories.values()} == set(FOOD[1:])


class _Renamed(FastEmbedder):
    name = "another-model"


def test_vectors_of_a_model_that_is_no_longer_in_force_are_not_compared(pipeline: Pipeline) -> None:
    """A process whose embedder a re-embedding has replaced notices within a second; until then it asks the index."""
    _stored(pipeline)
    assert read_whole(pipeline.runtime, pipeline.project, ANN, len(FOOD)) is not None
    for embedder in (_Renamed(), FastEmbedder(dims=8)):
        runtime = replace(pipeline.runtime, models=replace(pipeline.runtime.models, embedder=embedder))
        assert read_whole(runtime, pipeline.project, ANN, len(FOOD)) is None


def test_only_one_small_scope_is_read_whole(food: Pipeline) -> None:
    def read(filters: object, most: int, *, strict: bool = True) -> int | None:
        found = read_whole(food.runtime, food.project, scoped(parse(filters), strict), most)
        return None if found is None else len(found.memories)

    assert read({"user_id": "ann"}, len(FOOD)) == len(FOOD)
    assert read({"user_id": "ann"}, len(FOOD) - 1) is None
    assert read({"user_id": "ann"}, len(FOOD), strict=False) is None
    assert read({"user_id": "nobody"}, len(FOOD)) is None
    assert read({"OR": [{"user_id": "ann"}, {"user_id": "bob"}]}, 100) is None
    odd = {"AND": [{"user_id": "ann"}, {"metadata": {"parity": "odd"}}]}
    assert read(odd, len(FOOD)) == len(FOOD[5:])
    assert read(odd, len(FOOD) - 1) is None, "it is the scope that has to be small, as it is the scope that is read"


@given(st.integers(1, 60), st.integers(1, 60), st.integers(2, 32), st.integers(0, 2**32 - 1))
def test_a_cosine_depends_on_its_own_memory_alone(count: int, limit: int, dims: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    vectors = chance.normal(size=(count, dims))
    directions = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    ids, asked = [new_id() for _ in range(count)], chance.normal(size=dims).astype(np.float32)
    memories: dict[Any, Any] = dict.fromkeys(ids)
    together = WholeScope(memories, directions).nearest(asked, limit)
    alone: dict[Any, float] = {}
    for number, id_ in enumerate(ids):
        alone |= WholeScope({id_: memories[id_]}, directions[number : number + 1]).nearest(asked, 1)
    assert together == {id_: alone[id_] for id_ in sorted(ids, key=lambda id_: -alone[id_])[:limit]}
    assert list(together.values()) == sorted(together.values(), reverse=True)


def test_of_equally_near_memories_the_list_has_the_first_by_id() -> None:
    ids = sorted(new_id() for _ in range(3))
    directions = np.array([[1.0, 0.0]] * 3)
    for order in (ids, ids[::-1]):
        memories: dict[Any, Any] = dict.fromkeys(order)
        assert list(WholeScope(memories, directions).nearest(np.float32([1, 1]), 2)) == ids[:2]


def test_another_project_is_not_read(pipeline: Pipeline, food: Pipeline) -> None:
    _stored(pipeline)
    ours = read_whole(pipeline.runtime, pipeline.project, ANN, 100)
    theirs = read_whole(pipeline.runtime, food.project, ANN, 100)
    assert ours is not None
    assert theirs is not None
    assert not ours.memories.keys() & theirs.memories.keys()
