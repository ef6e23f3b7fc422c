"""Search over real PostgreSQL, the index endpoint and the built-in embedder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.adapters.builtin_embedder import builtin_embedder
from core.adapters.qdrant import QdrantIndex
from core.domain.errors import MemlaneError
from core.domain.ids import new_id
from core.domain.narrowing import Narrowing
from core.ports.index import IndexUnavailable
from core.ports.models import Embedder, ModelError, Reranker
from core.services.project import project
from core.services.project_settings import ProjectChange, change_project
from core.services.search import SearchQuery, SearchResult, search
from tests.doubles.pipeline import Pipeline, make_pipeline

FOOD = [
    "I like green tea in the morning",
    "My favourite dish is mushroom risotto",
    "I cook lentil soup every Sunday",
    "I am allergic to peanuts",
    "I bake rye bread at home",
    "My sister makes the best apple pie",
    "I never drink coffee after noon",
    "I buy my vegetables at the farmers market",
    "We had ramen for dinner",
]
FILLERS = [
    f"On page {n} the {noun} was {colour}"
    for n in range(25)
    for noun in ("hat", "boat", "door", "lamp")
    for colour in ("red", "blue")
]


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return builtin_embedder()


@pytest.fixture(scope="module")
def new_pipeline(
    index_on_endpoint: QdrantIndex, database: str, embedder: Embedder
) -> Iterator[Callable[[], Pipeline]]:
    made: list[Pipeline] = []
    prefix = f"search_{new_id().hex}"

    def make() -> Pipeline:
        made.append(make_pipeline(database, index_on_endpoint, prefix, embedder))
        return made[-1]

    with make().database.operations() as tx:
        tx.connection.execute(text("DELETE FROM index_collections"))
    yield make
    with made[0].database.operations() as tx:
        tx.connection.execute(text("DELETE FROM index_collections"))
    for pipeline in made:
        pipeline.database.close()


def _stored(pipeline: Pipeline, contents: list[str], **payload: Any) -> Pipeline:
    messages = [{"role": "user", "content": content} for content in contents]
    pipeline.add(messages, infer=False, **payload)
    pipeline.drain()
    return pipeline


def _search(pipeline: Pipeline, query: str, user: str = "ann", **options: Any) -> SearchResult:
    asked = SearchQuery(pipeline.project, query, {"user_id": user}, datetime.now(UTC), **options)
    return search(pipeline.runtime, asked)


_ALL_IDS = text("SELECT id FROM memories WHERE project_id = :project")


def _requested(pipeline: Pipeline, ids: list[UUID]) -> list[UUID]:
    with pipeline.database.transaction(pipeline.project) as tx:
        tx.projections.request(pipeline.project, ids)
    return ids


def _texts(result: SearchResult) -> list[str]:
    return [hit.memory.memory for hit in result.hits]


@pytest.fixture(scope="module")
def food(new_pipeline: Callable[[], Pipeline]) -> Pipeline:
    return _stored(new_pipeline(), FOOD)


def test_exact_words_and_numbers_come_first_among_200_others(new_pipeline: Callable[[], Pipeline]) -> None:
    """C34"""
    fan, ticket = "Error ZX-81-Q means the fan is stuck", "ticket 40017 is Ana's"
    pipeline = _stored(new_pipeline(), [*FILLERS, fan, ticket])
    assert _texts(_search(pipeline, "ZX-81-Q"))[0] == fan
    assert _texts(_search(pipeline, "40017"))[0] == ticket
    assert _texts(_search(pipeline, "zx-81-q", keyword_search=True))[0] == fan


def test_chinese_names_terms_and_full_width_identifiers_come_first(new_pipeline: Callable[[], Pipeline]) -> None:
    """C35"""
    search_lead, device = "混合检索的负责人是周岚", "设备编号 ＣＮ－Ａ１０２９３"
    others = ["今天天气很好", "我喜欢喝绿茶", "会议改到星期三", "他住在杭州", "项目预算已经批准"]
    pipeline = _stored(new_pipeline(), [*others, search_lead, device])
    assert _texts(_search(pipeline, "周岚"))[0] == search_lead
    assert _texts(_search(pipeline, "混合检索"))[0] == search_lead
    assert _texts(_search(pipeline, "CN-A10293"))[0] == device


def test_an_english_question_finds_a_chinese_memory(new_pipeline: Callable[[], Pipeline]) -> None:
    """C37"""
    deploy = "部署流程：先 make build 再 kubectl apply"
    pipeline = _stored(new_pipeline(), ["我喜欢喝绿茶", "会议改到星期三", "他住在杭州", deploy])
    assert _texts(_search(pipeline, "how to deploy the application"))[0] == deploy


def test_a_meaning_that_convinces_alone_is_given_a_fair_score_whatever_the_threshold(
    new_pipeline: Callable[[], Pipeline],
) -> None:
    """No word is shared, and between these languages every cosine is low."""
    contents = [
        "火曜日の夜はピアノのレッスンがあります",
        "自転車が盗まれました",
        "毎朝コーヒーを飲みます",
        "会議は水曜日です",
    ]
    pipeline = _stored(new_pipeline(), contents)
    question = "On which evening do I have a music lesson?"
    default, opened = _search(pipeline, question).hits, _search(pipeline, question, threshold=0.0).hits
    assert default[0].memory.memory == contents[0]
    assert default[0].score == opened[0].score >= 0.3 - 1e-9
    assert [sum(hit.breakdown.values()) for hit in opened] == pytest.approx([hit.score for hit in opened])
    assert [hit.memory.id for hit in default] == [hit.memory.id for hit in opened][: len(default)]


def test_scores_lie_in_range_descend_and_are_the_sum_of_their_parts(food: Pipeline) -> None:
    hits = _search(food, "what do I like to drink?", threshold=0.0).hits
    scores = [hit.score for hit in hits]
    assert len(hits) == len(FOOD)
    assert all(0 < score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)
    assert [sum(hit.breakdown.values()) for hit in hits] == pytest.approx(scores, abs=1e-12)
    assert set(hits[0].breakdown) == {"semantic", "bm25", "entity", "temporal"}


def test_an_off_topic_query_finds_nothing_and_threshold_and_top_k_hold(food: Pipeline) -> None:
    """C36"""
    assert len(_search(food, "quantum chromodynamics").hits) <= 1
    assert len(_search(food, "what do I eat?", threshold=0.99).hits) <= 1
    assert len(_search(food, "food I like to eat", top_k=5).hits) == 5
    assert len(_search(food, "quantum chromodynamics", threshold=0.0).hits) == len(FOOD)


def test_filling_another_project_leaves_the_scores_equal_to_the_bit(
    food: Pipeline, new_pipeline: Callable[[], Pipeline]
) -> None:
    before = [(hit.memory.id, hit.score, dict(hit.breakdown)) for hit in _search(food, "green tea", threshold=0).hits]
    _stored(new_pipeline(), [f"{fact}, number {n} about green tea" for n in range(5) for fact in FOOD])
    after = [(hit.memory.id, hit.score, dict(hit.breakdown)) for hit in _search(food, "green tea", threshold=0).hits]
    assert before == after


def test_another_user_sees_nothing(food: Pipeline) -> None:
    assert _search(food, "green tea", user="bob", threshold=0.0).hits == []


def test_a_stale_point_is_never_shown_and_is_queued_for_repair(new_pipeline: Callable[[], Pipeline]) -> None:
    pipeline = _stored(new_pipeline(), FOOD)
    with pipeline.database.operations() as tx:
        gone = "UPDATE memories SET state = 'deleted' WHERE project_id = :project AND memory LIKE '%green tea%'"
        tx.connection.execute(text(gone), {"project": pipeline.project})
    result = _search(pipeline, "green tea", threshold=0.0)
    assert "I like green tea in the morning" not in _texts(result)
    assert result.dropped == 1
    assert pipeline.count("projections") == 1


def test_a_filter_only_the_database_can_answer_narrows_the_search(food: Pipeline) -> None:
    found = _search(food, "food", narrowing=Narrowing(keywords="RYE"), threshold=0.0)
    assert _texts(found) == ["I bake rye bread at home"]


class _Longest:
    """A reranker that likes long memories."""

    def rerank(self, query: str, documents: Sequence[str]) -> list[float]:
        return [min(1.0, len(document) / 100) for document in documents]


class _Broken:
    def rerank(self, query: str, documents: Sequence[str]) -> list[float]:
        raise ModelError("refused")


def _with_reranker(pipeline: Pipeline, reranker: Reranker | None) -> Pipeline:
    runtime = replace(pipeline.runtime, models=replace(pipeline.runtime.models, reranker=reranker))
    return replace(pipeline, runtime=runtime)


def test_reranking_reorders_the_same_hits(food: Pipeline) -> None:
    plain = _search(food, "food I like to eat", top_k=5)
    result = _search(_with_reranker(food, _Longest()), "food I like to eat", top_k=5, rerank=True)
    assert sorted(_texts(result)) == sorted(_texts(plain))
    lengths = [len(content) for content in _texts(result)]
    assert lengths == sorted(lengths, reverse=True)
    assert [sum(hit.breakdown.values()) for hit in result.hits] == pytest.approx([hit.score for hit in result.hits])
    assert result.notice is None


@pytest.mark.parametrize("reranker", [None, _Broken()], ids=["none configured", "out of order"])
def test_without_a_reranker_the_order_stays_and_a_notice_says_so(food: Pipeline, reranker: Any) -> None:
    plain = _search(food, "food I like to eat")
    result = _search(_with_reranker(food, reranker), "food I like to eat", rerank=True)
    assert _texts(result) == _texts(plain)
    assert result.notice
    assert "reranker" in result.notice


def test_a_fact_told_twice_steps_back_the_second_time(new_pipeline: Callable[[], Pipeline]) -> None:
    twice = ["I prefer tea over coffee", "I prefer tea over coffee!", "Tea is grown in Assam", "We had tea at noon"]
    texts = _texts(_search(_stored(new_pipeline(), twice), "do I prefer tea or coffee?", threshold=0.0))
    assert sum(content.startswith("I prefer") for content in texts[:2]) == 1


def test_as_of_shows_what_held_then_in_the_words_of_then(
    new_pipeline: Callable[[], Pipeline],
) -> None:
    pipeline = new_pipeline()
    spring, autumn = datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 10, 1, tzinfo=UTC)
    _stored(pipeline, ["Jo lives in Lyon"], timestamp=int(spring.timestamp()))
    _stored(pipeline, ["Jo lives in Porto"], timestamp=int(autumn.timestamp()))
    moved = """UPDATE memories SET state = 'superseded', replaced_kind = 'changed', valid_to = :at,
        replaced_by = (SELECT id FROM memories WHERE project_id = :project AND memory LIKE '%Porto')
        WHERE project_id = :project AND memory LIKE '%Lyon'"""
    reworded = "UPDATE memories SET memory = 'Jo lived in Lyon' WHERE project_id = :project AND memory LIKE '%Lyon'"
    with pipeline.database.operations() as tx:
        tx.connection.execute(text(moved), {"project": pipeline.project, "at": autumn})
        tx.connection.execute(text(reworded), {"project": pipeline.project})
        pipeline_ids = [row.id for row in tx.connection.execute(_ALL_IDS, {"project": pipeline.project})]
    project(pipeline.runtime, pipeline.project, _requested(pipeline, pipeline_ids))
    question = "where does Jo live?"

    def then(moment: datetime) -> list[str]:
        return _texts(_search(pipeline, question, threshold=0.0, as_of=moment))

    assert then(datetime(2024, 1, 1, tzinfo=UTC)) == []
    assert then(datetime(2024, 5, 1, tzinfo=UTC)) == ["Jo lives in Lyon"]
    assert then(datetime(2024, 12, 1, tzinfo=UTC)) == ["Jo lives in Porto"]
    assert _texts(_search(pipeline, question, threshold=0.0)) == ["Jo lives in Porto", "Jo lived in Lyon"]


def test_with_decay_what_is_found_is_remembered_and_comes_nearer(new_pipeline: Callable[[], Pipeline]) -> None:
    pipeline = new_pipeline()
    long_ago = 1_672_531_200  # 2023-01-01
    _stored(pipeline, ["Maria plays the oboe"], timestamp=long_ago)
    _stored(pipeline, ["Maria plays chess"], timestamp=long_ago)
    plain = _search(pipeline, "what does Maria play?", threshold=0.0)
    assert pipeline.count("touches") == 0
    change = ProjectChange(settings={"decay": True})
    change_project(pipeline.database, pipeline.runtime.projects, pipeline.project, change)
    faded = _search(pipeline, "what does Maria play?", threshold=0.0)
    assert pipeline.count("touches") == 2
    again = _search(pipeline, "what does Maria play?", threshold=0.0)
    assert faded.hits[0].score < plain.hits[0].score
    assert faded.hits[0].score < again.hits[0].score <= 1
    assert sum(again.hits[0].breakdown.values()) == pytest.approx(again.hits[0].score)


class _Down:
    """Any port, down: every call raises `error`."""

    def __init__(self, inner: Any, error: Exception) -> None:
        self._inner = inner
        self._error = error

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if name not in ("query", "embed_query"):
            return value

        def fail(*_args: object, **_kwargs: object) -> None:
            raise self._error

        return fail


@pytest.mark.parametrize(("part", "code"), [("index", "index_unavailable"), ("embedder", "embedder_unavailable")])
def test_an_outage_is_an_error_and_never_an_empty_list(food: Pipeline, part: str, code: str) -> None:
    """C18"""
    runtime = food.runtime
    if part == "index":
        down: Any = _Down(runtime.index, IndexUnavailable("refused"))
        broken = replace(runtime, index=down)
    else:
        down = _Down(runtime.models.embedder, ModelError("refused"))
        broken = replace(runtime, models=replace(runtime.models, embedder=down))
    with pytest.raises(MemlaneError) as caught:
        search(broken, SearchQuery(food.project, "tea", {"user_id": "ann"}, datetime.now(UTC)))
    assert (caught.value.code, caught.value.status) == (code, 503)
    assert caught.value.retry_after == 2
