"""Retrieval over languages, held to ranks: real PostgreSQL, the index endpoint and the built-in embedder.

The floors are those of docs/benchmarks.md, which has the whole tables. Cross-lingual questions, the biggest part of
the set, are asked by every third here.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from core.adapters.builtin_embedder import builtin_embedder
from core.adapters.qdrant import QdrantIndex
from core.adapters.query_cache import CachedQueries
from core.domain.ids import new_id
from deploy.bench.stats import mean
from tests.benchmarks.multilingual import KINDS, Outcome, Question, ask, read_held_out, read_set, store
from tests.doubles.pipeline import make_pipeline

FACTS, QUESTIONS = read_set()


def _slice() -> list[Question]:
    across = [question for question in QUESTIONS if question.kind == "cross_lingual"][::3]
    return [question for question in QUESTIONS if question.kind != "cross_lingual"] + across


@pytest.fixture(scope="module")
def asked(index_on_endpoint: QdrantIndex, database: str) -> Iterator[tuple[list[Outcome], list[Outcome]]]:
    embedder = CachedQueries(builtin_embedder())
    pipeline = make_pipeline(database, index_on_endpoint, f"multilingual_{new_id().hex}", embedder)
    try:
        with pipeline.database.operations() as tx:
            tx.connection.execute(text("DELETE FROM index_collections"))
        sources = store(pipeline, FACTS)
        own = [ask(pipeline, sources, question) for question in _slice()]
        yield own, [ask(pipeline, sources, question) for question in read_held_out()[::4]]
        with pipeline.database.operations() as tx:
            tx.connection.execute(text("DELETE FROM index_collections"))
    finally:
        pipeline.database.close()


@pytest.fixture
def outcomes(asked: tuple[list[Outcome], list[Outcome]]) -> list[Outcome]:
    return asked[0]


@pytest.fixture
def held_out(asked: tuple[list[Outcome], list[Outcome]]) -> list[Outcome]:
    """Every fourth of the set."""
    return asked[1]


def _answerable(outcomes: list[Outcome], *kinds: str) -> list[Outcome]:
    return [one for one in outcomes if one.question.facts and (not kinds or one.question.kind in kinds)]


def test_the_set_is_as_large_as_it_says_and_every_answer_exists() -> None:
    known = {fact.id: fact.lang for fact in FACTS}
    assert len(known) == len(FACTS) >= 60
    assert len(QUESTIONS) >= 120
    assert {question.kind for question in QUESTIONS} == set(KINDS)
    assert all(known[id_] == question.about for question in QUESTIONS for id_ in question.facts)
    assert all(bool(question.facts) != (question.kind == "off_topic") for question in QUESTIONS)
    assert sum(question.kind == "off_topic" for question in QUESTIONS) >= 25
    assert all((question.lang != question.about) == (question.kind == "cross_lingual") for question in QUESTIONS)


@pytest.mark.parametrize("lang", ["zh", "ja"])
def test_chinese_and_japanese_find_within_five_points_of_english(outcomes: list[Outcome], lang: str) -> None:
    def recall(asked_in: str) -> float:
        own = [one for one in _answerable(outcomes) if one.question.lang == one.question.about == asked_in]
        return mean([one.recall(5) for one in own])

    assert recall(lang) >= recall("en") - 0.05, f"{lang} {recall(lang):.3f}, en {recall('en'):.3f}"


def test_every_language_finds_paraphrases(outcomes: list[Outcome]) -> None:
    recall = {
        lang: mean([one.recall(5) for one in _answerable(outcomes, "paraphrase") if one.question.lang == lang])
        for lang in ("en", "zh", "ja", "de", "es")
    }
    assert min(recall.values()) >= 0.80, recall


def test_exact_ids_and_names_come_first(outcomes: list[Outcome]) -> None:
    asked = _answerable(outcomes, "exact_id", "name")
    missed = [f"{one.question.text} ({one.question.about})" for one in asked if not one.first]
    assert len(missed) <= 0.02 * len(asked), missed


def test_a_question_in_another_language_finds_its_memory(outcomes: list[Outcome]) -> None:
    assert mean([one.recall(5) for one in _answerable(outcomes, "cross_lingual")]) >= 0.80


def test_off_topic_questions_find_nothing_at_the_default_threshold(outcomes: list[Outcome]) -> None:
    asked = [one for one in outcomes if one.question.kind == "off_topic"]
    answered = [one.question.text for one in asked if one.default]
    assert len(answered) <= 0.15 * len(asked), answered


def test_the_default_threshold_costs_less_than_three_points_of_recall(outcomes: list[Outcome]) -> None:
    assert _lost(_answerable(outcomes, "paraphrase", "exact_id", "name")) < 0.03


def test_the_default_threshold_costs_questions_in_another_language_hardly_more(outcomes: list[Outcome]) -> None:
    """Nothing but the cosine tells them from off-topic ones."""
    assert _lost(_answerable(outcomes, "cross_lingual")) < 0.05


def test_questions_that_nothing_was_tuned_on_fare_the_same(held_out: list[Outcome]) -> None:
    """Also those in two languages more, and those about nothing, asked in another language than the memories."""
    about_nothing = [float(not one.default) for one in held_out if not one.question.facts]
    assert mean(about_nothing) >= 0.80
    assert _lost(_answerable(held_out)) < 0.10


def _lost(asked: list[Outcome]) -> float:
    return mean([one.recall(10) - one.recall(10, one.default) for one in asked])
