"""Names, their canonical keys, and the aliases under which a question finds them."""

from __future__ import annotations

import pytest

from core.domain.memory import Entity
from core.text.entities import canonical_key, entities, entity_keys, query_keys


def found(text: str) -> dict[str, str]:
    return {entity.name: entity.type for entity in entities(text)}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("My dentist is Dr Ek and Adam Smith lives in New York", {"Dr Ek", "Adam Smith", "New York"}),
        ("Error ZX-81-Q means the fan is stuck", {"ZX-81-Q"}),
        ("ticket 40017 is Ana's", {"40017", "Ana"}),
        ('I read "The Alchemist" by Paulo Coelho', {"The Alchemist", "Paulo Coelho"}),
        ("我叫林澜，在杭州的云杉科技做测试工程师", {"林澜", "杭州", "云杉科技"}),
        ("混合检索的负责人是周岚", {"周岚"}),
        ("设备编号 ＣＮ－Ａ１０２９３", {"CN-A10293"}),
        ("我看了《红楼梦》", {"红楼梦"}),
        ("田中さんは東京に住んでいます", {"田中", "東京"}),
        ("Ich wohne mit Anna in Berlin", {"Anna", "Berlin"}),
        ("Je vis à Paris avec Zoé", {"Paris", "Zoé"}),
        ("Bank of England raises rates", {"Bank of England"}),
        ("设备编号是CN-A10293放在三号", {"CN-A10293"}),
        ("We have 2 kids: Mia (7) and Leo (4)", {"Mia", "Leo"}),
        ("私はPythonをよく使います", {"Python"}),
        ("set MEMLANE_HOME or foo_bar", {"MEMLANE_HOME", "foo_bar"}),
    ],
)
def test_names_are_found(text: str, names: set[str]) -> None:
    assert names <= set(found(text))


@pytest.mark.parametrize(
    "text",
    [
        "Painting is fun.",
        "I'm happy. Thanks!",
        "On Monday in May",
        "Wow, That's great",
        "7pm or 3rd",
        "我对芒果过敏",
        "",
    ],
)
def test_capitals_of_position_or_calendar_are_no_names(text: str) -> None:
    assert found(text) == {}


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("My dentist is Dr Ek", "Dr Ek", "person"),
        ("I live in Lyon", "Lyon", "place"),
        ("I'm Nora", "Nora", "person"),
        ("She studies at Uppsala University", "Uppsala University", "organization"),
        ("林澜在云杉科技上班", "云杉科技", "organization"),
    ],
)
def test_types_are_told_from_the_neighbourhood(text: str, name: str, kind: str) -> None:
    assert found(text)[name] == kind


@pytest.mark.parametrize(
    ("first", "second"), [("Dr Ek", "Ek"), ("Adam Smith", "Mr Smith"), ("Adam Smith", "Adam"), ("José", "Jose's")]
)
def test_aliases_meet(first: str, second: str) -> None:
    one, other = (Entity(name, canonical_key(name), "person") for name in (first, second))
    assert set(entity_keys(one)) & set(entity_keys(other))


@pytest.mark.parametrize(
    ("question", "memory"),
    [
        ("where does adam smith work?", "Adam Smith works at Foo"),
        ("who is dr. ek", "My dentist is Dr Ek"),
        ("what does zx81q mean", "Error ZX-81-Q means the fan is stuck"),
        ("周岚负责什么", "混合检索的负责人是周岚"),
        ("云杉科技在哪里", "我在云杉科技上班"),
        ("what is smith's job", "Adam Smith is a baker"),
    ],
)
def test_a_question_asks_for_the_keys_of_its_memory(question: str, memory: str) -> None:
    keys = {key for entity in entities(memory) for key in entity_keys(entity)}
    assert keys & set(query_keys(question))


def test_the_speaker_comes_first_as_a_person() -> None:
    assert entities("I like Lyon", "Nora Ek")[0] == Entity("Nora Ek", "nora ek", "person")
