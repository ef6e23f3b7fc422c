"""Reading a model's answer: what is taken, what is refused, what is never taken."""

from __future__ import annotations

import json

import pytest

from core.services.extract_model.parse import Unreadable, parse, without_thoughts

TEA = '{"memories": [{"text": "likes tea"}]}'


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        (TEA, ["likes tea"]),
        ('{"memories": []}', []),
        ('{"memories": null}', []),
        ("[]", []),
        (f"Here you are:\n```json\n{TEA}\n```\nAnything else?", ["likes tea"]),
        (f"```\n{TEA}\n```", ["likes tea"]),
        (f"I looked at {{turn 0}} and [1]. {TEA} Done {{ok}}.", ["likes tea"]),
        (f"An open {{ in prose. {TEA}", ["likes tea"]),
        ('{"memories": [{"text": "likes tea"},]}', ["likes tea"]),
        ('{"memories": [{"text": "likes tea",}],}', ["likes tea"]),
        ("{'memories': [{'text': 'likes tea'}]}", ["likes tea"]),
        ('{memories: [{text: "likes tea"}]} // done', ["likes tea"]),
        ('{"memories": [{"text": "likes\ntea"}]}', ["likes\ntea"]),
        ('{"memories": [{"text": "likes tea"}]', ["likes tea"]),
        ('{"memories": ["likes tea", "owns a cat"]}', ["likes tea", "owns a cat"]),
        ('["likes tea"]', ["likes tea"]),
        ('```json\n["likes tea"]\n```', ["likes tea"]),
        ('{"facts": ["likes tea"]}', ["likes tea"]),
        ('{"memories": "likes tea"}', ["likes tea"]),
        ('{"memories": {"text": "likes tea"}}', ["likes tea"]),
        ('{"text": "likes tea"}', ["likes tea"]),
        ('{"text": "likes tea"}\n{"text": "owns a cat"}', ["likes tea", "owns a cat"]),
        ('{"memories": [{"memory": "likes tea"}, {"fact": "owns a cat"}]}', ["likes tea", "owns a cat"]),
        (f'{TEA}\n{{"memories": [{{"text": "owns a cat"}}]}}', ["likes tea", "owns a cat"]),
        (f'{{"note": "ok"}}\n{TEA}', ["likes tea"]),
        (f'<think>maybe {{"memories": [{{"text": "hates tea"}}]}}</think>{TEA}', ["likes tea"]),
        (f"<thinking type='x'>{{a}}</thinking>\n{TEA}", ["likes tea"]),
        (f'the start is missing {{"memories": ["hates tea"]}} </think>{TEA}', ["likes tea"]),
        (f"{TEA}<think>was that right? {{", ["likes tea"]),
        ('{"memories": [{"text": "uses <think> and </think>"}]}', ["uses <think> and </think>"]),
        ('{"memories": [{"text": "likes tea"}, 7, {"text": " "}, {"note": "x"}, null]}', ["likes tea"]),
    ],
)
def test_items_are_found(answer: str, texts: list[str]) -> None:
    assert [item["text"] for item in parse(answer).items] == texts


WHOLE = json.dumps({"memories": [{"text": "likes tea", "entities": [{"name": "tea"}]}, {"text": 'says "hi, {you}"'}]})


@pytest.mark.parametrize("end", range(10, len(WHOLE) - 2))
def test_of_an_answer_cut_anywhere_only_complete_items_are_taken(end: int) -> None:
    texts = ["likes tea", 'says "hi, {you}"']
    complete = sum(WHOLE.index(mark) + len(mark) <= end for mark in ('"tea"}]}', '{you}\\""}'))
    if complete == 0:
        with pytest.raises(Unreadable):
            parse(WHOLE[:end])
    else:
        answer = parse(WHOLE[:end])
        assert [item["text"] for item in answer.items] == texts[:complete]
        assert answer.cut == (end < len(WHOLE) - 1)


def test_a_badly_written_item_before_the_cut_is_repaired() -> None:
    assert [item["text"] for item in parse('{"memories": [{"text": "a",}, {"text": "b"}, {"te').items] == ["a", "b"]


def test_bad_siblings_are_counted() -> None:
    assert parse('{"memories": ["a", 1, {}]}').bad == 2


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("<think>so</think>", "thoughts"),
        (f"<think>so {TEA}", "thoughts"),
        ("User likes tea", "no JSON"),
        ("{}", "no JSON"),
        ('{"answer": 42}', "no JSON"),
        ("[1, 2]", "no JSON"),
        ('He said ["tea"] and ["coffee"]', "no JSON"),
        ('{"memories": [{"te', "no JSON"),
        ('{"memories": [{"note": "x"}, 4]}', "no item"),
        ("null", "no JSON"),
        ('"likes tea"', "no JSON"),
        ("[" * 100_000, "no JSON"),
        ('{"memories":' * 5_000, "no JSON"),
        ("[" * 5_000 + "]" * 5_000, "no JSON"),
        ("<think>" * 50_000, "thoughts"),
        ("<think" * 50_000, "no JSON"),
        ("{a} " * 50_000, "no JSON"),
    ],
)
def test_what_cannot_be_read_is_never_an_empty_answer(answer: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        parse(answer)


def test_an_endless_answer_is_bounded() -> None:
    assert len(parse(json.dumps({"memories": ["likes tea"] * 5_000})).items) == 256


def test_thoughts_are_taken_off_whichever_end_is_missing() -> None:
    assert without_thoughts("a <think>b</think> c") == "a  c"
    assert without_thoughts("b</think> c") == "c"
    assert without_thoughts("a <think>b") == "a"
    assert without_thoughts("a <think>b <think>c</think> d") == "a  d"
