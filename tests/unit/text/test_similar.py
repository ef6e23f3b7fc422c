"""When a memory is an old one told again."""

from __future__ import annotations

import pytest

from core.text.similar import near_duplicate


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I prefer tea over coffee", "i prefer tea over coffee!!  "),
        ("I prefer tea over coffee.", "I  PREFER TEA OVER COFFEE"),
        ("User prefers tea over coffee", "I really prefer tea over coffee"),
        ("I'm allergic to nuts", "I am allergic to nuts."),
        ("I have two cats", "I have 2 cats"),
        ("User: I live in Lyon", "I live in Lyon"),
        ("我喜欢喝茶。", "我很喜欢喝茶"),
        ("私は猫が好きです", "猫が好き"),
        ("Ich mag Tee", "ich mag sehr Tee!"),
    ],
)
def test_trivial_rewording_is_the_same(one: str, other: str) -> None:
    assert near_duplicate(one, other, None)
    assert near_duplicate(other, one, 0.99)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I prefer tea over coffee", "I prefer coffee over tea"),
        ("I have 2 cats", "I have 3 cats"),
        ("I can eat nuts", "I can't eat nuts"),
        ("I live in Lyon", "I lived in Lyon"),
        ("I am a teacher", "I was a teacher"),
        ("I moved to Lyon", "I moved from Lyon"),
        ("My locker is B17", "My locker is B18"),
        ("Anna loves my brother Ben", "Ben loves my brother Anna"),
        ("I write C", "I write C++"),
        ("我喜欢喝茶", "我不喜欢喝茶"),
        ("我有两只猫", "我有三只猫"),
        ("Ich mag Tee", "Ich mag keinen Tee"),
    ],
)
def test_another_fact_is_never_the_same(one: str, other: str) -> None:
    assert not near_duplicate(one, other, 0.999)


def test_a_changed_order_counts_as_the_same_only_with_a_very_near_embedding() -> None:
    one, other = "Yesterday I bought a red bike", "I bought a red bike yesterday"
    assert near_duplicate(one, other, 0.98)
    assert not near_duplicate(one, other, 0.9)
    assert not near_duplicate(one, other, None)
