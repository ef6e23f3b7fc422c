"""C34–C37 over HTTP: exact words, Chinese, off-topic questions, another language."""

from __future__ import annotations

import pytest

from tests.acceptance.cases.field import Field

FOODS = ("pasta", "rice", "lentils", "cherries", "rye bread", "mushrooms", "trout", "goat cheese", "kimchi")


def test_c34_an_exact_code_or_number_comes_first_among_200_facts(field: Field) -> None:
    turns = [{"role": "user", "content": f"Shelf {n} in the storeroom holds box {n * 3 + 1}"} for n in range(200)]
    field.stored(turns, infer=False)
    field.stored("Error ZX-81-Q means the fan is stuck", infer=False)
    field.stored("ticket 40017 is Ana's", infer=False)
    assert "ZX-81-Q" in field.texts("ZX-81-Q")[0]
    assert "40017" in field.texts("40017")[0]


def test_c35_chinese_names_codes_and_words_come_first(field: Field) -> None:
    field.stored("混合检索的负责人是周岚", infer=False)
    field.stored("设备编号 ＣＮ－Ａ１０２９３", infer=False)
    for n in range(20):
        field.stored(f"第{n}个会议室可以坐{n + 4}个人", infer=False)
    assert "周岚" in field.texts("周岚")[0]
    assert "１０２９３" in field.texts("CN-A10293")[0]
    assert "混合检索" in field.texts("混合检索")[0]


def test_c36_an_off_topic_question_finds_next_to_nothing_and_scores_are_in_order(field: Field) -> None:
    for food in FOODS:
        field.stored(f"I like to eat {food} for dinner", infer=False)
    assert len(field.texts("quantum chromodynamics")) <= 1
    found = field.search("what food for dinner", threshold=0, top_k=5)
    scores = [hit["score"] for hit in found]
    assert len(found) == 5
    assert all(0 < score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)
    assert len(field.search("what food for dinner", threshold=0.99)) <= 1
    for hit in found:
        assert hit["score"] == pytest.approx(sum(hit["score_breakdown"].values()), abs=1e-6)


def test_c37_a_question_in_another_language_finds_the_fact(field: Field) -> None:
    field.stored("部署流程：先 make build 再 kubectl apply", infer=False)
    field.stored("我每天早上喝一杯豆浆", infer=False)
    assert "kubectl" in field.texts("how to deploy the application")[0]
