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
from core.domain.ids import new_id
from core.domain.narrowing import Narrowing
from core.domain.ranking_params import DEFAULT
from core.ports.index import IndexLists, IndexQuery, SparseVector
from core.ports.models import Matrix
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


@pytest.fixture(scope="module")
def food(own_place: tuple[str, QdrantIndex, str]) -> Iterator[Pipeline]:
    url, index, prefix = own_place
    pipeline = make_pipeline(url, index, prefix, _Grained())
    for number, content in enumerate(FOOD):
        parity = {"parity": "even" if number % 2 == 0 else "odd"}
        pipeline.add(content, infer=False, metadata=parity, timestamp=1_700_000_000 + number * 86_400)
    pipeline.add("I like green tea and rye bread too", user="bob", infer=False)
    pipeline.drain()
    yield pipeline
    pipeline.database.close()


def _asked(pipeline: Pipeline, query: str, filters: object = None, **options: Any) -> SearchQuery:
    return SearchQuery(pipeline.project, query, filters or {"user_id": "ann"}, datetime.now(UTC), **options)


def _scores(result: SearchResult) -> dict[str, float]:
    return {hit.memory.memory: hit.score for hit in result.hits}


QUERIES = ["green tea", "what does Bertha bake?", "what did I cook on Sunday?", "unheard-of"]
OPTIONS: list[dict[str, Any]] = [
    {"threshold": 0.0},
    {"top_k": 2},
    {"filters": {"AND": [{"user_id": "ann"}, {"metadata": {"parity": "odd"}}]}, "threshold": 0.0},
    {"narrowing": Narrowing(keywords="rye"), "threshold": 0.0},
    {"as_of": datetime.fromtimestamp(1_700_000_000, UTC) + timedelta(days=3, hours=1), "threshold": 0.0},
    {"filters": {"OR": [{"user_id": "ann"}, {"user_id": "bob"}]}, "threshold": 0.0},
]


@pytest.mark.parametrize("lists", [{}, SHORT], ids=["all listed", "lists cut off"])
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options))
@pytest.mark.parametrize("query", QUERIES)
def test_a_scope_read_whole_answers_as_the_index_does(
    food: Pipeline, query: str, options: dict[str, Any], lists: dict[str, int]
) -> None:
    asked = _asked(food, query, **options)
    whole = search(food.runtime, asked, replace(DEFAULT, **lists, whole_factor=3))
    recalled = search(food.runtime, asked, replace(FROM_INDEX, **lists))
    assert _scores(whole) == pytest.approx(_scores(recalled), abs=1e-5)
    assert (whole.notice, whole.dropped) == (recalled.notice, recalled.dropped)


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


def test_what_is_added_after_a_scope_was_read_is_found_by_its_words(pipeline: Pipeline) -> None:
    pipeline.add(FOOD[0], infer=False)
    pipeline.drain()
    index: Any = _Meanwhile(pipeline, "I sell green tea now")
    result = search(replace(pipeline.runtime, index=index), _asked(pipeline, "green tea"))
    assert set(_scores(result)) == {FOOD[0], "I sell green tea now"}
    assert result.dropped == 0
    assert pipeline.count("projections") == 0


def _change(pipeline: Pipeline, statement: str) -> None:
    with pipeline.database.operations() as tx:
        tx.connection.execute(text(statement), {"project": pipeline.project})


def _stored(pipeline: Pipeline) -> Pipeline:
    pipeline.add([{"role": "user", "content": content} for content in FOOD], infer=False)
    pipeline.drain()
    return pipeline


SPOILT = {
    "a memory without a vector": "UPDATE memories SET embedding = NULL WHERE memory LIKE '%tea%'",
    "a vector of another size": "UPDATE memories SET embedding = '\\x00' WHERE memory LIKE '%tea%'",
    "nothing there": "UPDATE memories SET state = 'deleted'",
}


@pytest.mark.parametrize("kind", SPOILT)
def test_what_cannot_be_compared_is_left_to_the_index(pipeline: Pipeline, kind: str) -> None:
    _stored(pipeline)
    assert read_whole(pipeline.runtime, pipeline.project, ANN, len(FOOD)) is not None
    _change(pipeline, SPOILT[kind] + (" AND" if "WHERE" in SPOILT[kind] else " WHERE") + " project_id = :project")
    assert read_whole(pipeline.runtime, pipeline.project, ANN, len(FOOD)) is None


class _Renamed(FastEmbedder):
    name = "another-model"


def test_vectors_of_a_model_that_is_no_longer_in_force_are_not_compared(pipeline: Pipeline) -> None:
    """A process whose embedder a re-embedding has replaced notices within a second; until then it asks the index."""
    _stored(pipeline)
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
    assert read(odd, len(FOOD)) == len(FOOD) // 2
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
