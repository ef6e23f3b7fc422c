"""C02–C13 without a chat model, C41–C43: what is stored of what is said, and what is not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.cases.field import Field, said


def test_c02_a_greeting_with_a_fact_is_kept_a_question_is_not_and_a_repeat_is_told(field: Field) -> None:
    greeting = "Hi, I'm Nora and I can't eat shellfish"
    assert len(field.stored(greeting)) >= 1
    asked = field.add("How do I cook rice?")
    assert (asked["status"], asked["results"], asked["reason"]) == ("SUCCEEDED", [], "nothing_to_store")
    again = field.add(greeting)
    assert (again["results"], again["reason"]) == ([], "all_duplicates")


@pytest.mark.parametrize(
    ("text", "words", "question"),
    [
        ("我叫林澜，在杭州的云杉科技做测试工程师，对芒果过敏", ["林澜", "云杉科技", "芒果"], "我对什么过敏"),
        (
            "私は山田花子です。札幌の図書館で働いていて、そばアレルギーがあります",
            ["札幌", "そば"],
            "何のアレルギーがありますか",
        ),
        ("저는 부산에 사는 김민준이고 땅콩 알레르기가 있어요", ["김민준", "땅콩"], "무슨 알레르기가 있나요"),
        (
            "Меня зовут Ольга, я живу в Казани, у меня аллергия на арахис",
            ["Ольга", "арахис"],
            "на что у меня аллергия",
        ),
        (
            "Ich heiße Jörg, wohne in Köln und vertrage keine Nüsse",
            ["Jörg", "Köln", "Nüsse"],
            "Was vertrage ich nicht?",
        ),
    ],
)
def test_c03_the_language_and_the_names_stay_as_they_were_said(
    field: Field, text: str, words: list[str], question: str
) -> None:
    field.stored(text)
    field.stored("天气不错，我昨天去公园散步了" if words[0] != "林澜" else "我喜欢骑自行车上班")
    first = field.texts(question)[0]
    assert all(word in " ".join(field.listed()) for word in words)
    assert words[-1] in first


def test_c04_twenty_times_the_same_tool_chatter_stores_nothing(field: Field) -> None:
    chatter = [
        {"role": "system", "content": "You are Helper v3, tools: a,b"},
        {"role": "user", "content": "ping"},
        {"role": "assistant", "content": "Recalled: user likes tea. OK"},
    ]
    for event_id in [field.accept(chatter) for _ in range(20)]:
        assert field.ended(event_id)["results"] == []
    assert field.page()["count"] == 0


def test_c05_the_newest_truth_ranks_first_and_nothing_is_lost(field: Field) -> None:
    field.stored("I live in Lyon")
    field.stored("I moved to Porto last week")
    found = field.texts("where does the user live")
    assert "Porto" in found[0]


def test_c06_other_punctuation_case_and_space_are_the_same_fact(field: Field) -> None:
    for text in ("I prefer tea over coffee", "i prefer tea over coffee!", "I prefer tea over coffee.  "):
        field.add(text)
    assert field.page()["count"] == 1


def test_c07_yesterday_is_resolved_against_the_timestamp_of_the_add(field: Field) -> None:
    (stored,) = field.stored("I ran a marathon yesterday", timestamp=1684922400)
    memory = field.http.get(f"/v1/memories/{stored}/").json()
    assert memory["created_at"].startswith("2023-05-24T10:00:00")
    assert memory["event_date"] == "2023-05-23"


def test_c08_nobody_is_given_what_somebody_else_is_or_does(field: Field) -> None:
    field.add(
        [{"role": "user", "content": "Explain heaps"}, {"role": "assistant", "content": "I'd use a Fibonacci heap"}]
    )
    field.add("My friend Jack hates football")
    field.add("What are the KPIs of Christophe?")
    stored = " | ".join(field.listed())
    assert "ser uses" not in stored
    assert "Christophe" not in stored
    jack = [text for text in field.listed() if "football" in text]
    assert len(jack) == 1
    assert "Jack" in jack[0]


def test_c11_another_run_shows_nothing_of_this_one(field: Field) -> None:
    for n in range(10):
        field.add(f"I bake rye bread number {n}", run_id="r1")
    field.add("I set up nginx on port 8081", run_id="r2")
    of_second = field.listed({"AND": [{"user_id": "u"}, {"run_id": "r2"}]})
    assert of_second
    assert not any("bread" in text for text in of_second)


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        (said([{"type": "text", "text": "I love hiking in the Dolomites"}]), "hiking"),
        ([*said("I love hiking in the Dolomites"), {"role": "assistant", "tool_calls": [{"id": "1"}]}], "hiking"),
        ([*said("I love hiking in the Dolomites"), {"role": "tool", "content": "42", "tool_call_id": "1"}], "hiking"),
        ([{"role": "developer", "content": "be brief"}, *said("I love hiking in the Dolomites")], "hiking"),
        ("I love hiking in the Dolomites", "hiking"),
    ],
)
def test_c12_every_shape_of_message_is_read(field: Field, messages: Any, expected: str) -> None:
    field.stored(messages)
    assert any(expected in text for text in field.listed())


@pytest.mark.parametrize(
    ("messages", "index"),
    [([*said("ok"), "not an object"], "1"), ([*said("a"), *said("b"), {"role": "user", "content": 7}], "2")],
)
def test_c12_a_bad_shape_is_refused_with_its_index(field: Field, messages: Any, index: str) -> None:
    answer = field.send(messages)
    assert answer.status_code == 400
    assert index in answer.text


def test_c13_facts_are_found_at_the_third_and_the_thirty_eighth_of_forty_long_messages(field: Field) -> None:
    filler = ("lorem ipsum dolor sit amet consectetur adipiscing elit " * 40)[:1970]
    turns = [{"role": "user", "content": filler} for _ in range(40)]
    turns[2] = {"role": "user", "content": f"{filler} My locker is B17."}
    turns[37] = {"role": "user", "content": f"{filler} My dentist is Dr Ek."}
    event = field.add(turns)
    assert event["status"] == "SUCCEEDED"
    stored = " | ".join(field.listed())
    assert "B17" in stored
    assert "Dr Ek" in stored


@pytest.mark.parametrize("character", ["\x00", "\ufffe", "\uffff", "\x07", "\u202e", "\u200b"])
def test_c42_odd_characters_are_cleaned_or_refused(field: Field, character: str) -> None:
    answer = field.send(f"I like green{character} tea from Uji")
    assert answer.status_code in (200, 400)
    if answer.status_code == 200:
        assert field.ended(answer.json()["event_id"])["status"] == "SUCCEEDED"


def test_c42_a_lone_surrogate_is_cleaned_or_refused(field: Field) -> None:
    raw = b'{"messages":[{"role":"user","content":"I like tea \\ud83d from Uji"}],"user_id":"u"}'
    answer = field.http.post("/v3/memories/add/", content=raw, headers={"content-type": "application/json"})
    assert answer.status_code in (200, 400)
    if answer.status_code == 200:
        assert field.ended(answer.json()["event_id"])["status"] == "SUCCEEDED"
