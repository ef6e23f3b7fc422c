"""Facts of which one has one at a time."""

from __future__ import annotations

import pytest

from core.text.slots import closed_by, slot_of


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("User: I moved to Porto last week", "User: I live in Lyon"),
        ("User: I live in Porto now", "User: I moved to Lyon in 2019"),
        ("Nora: I work as a baker", "Nora: I work at a bank"),
        ("用户：我搬到杭州了", "用户：我住在上海"),
        ("Nutzer: Ich wohne jetzt in Köln", "Nutzer: Ich lebe in Ulm"),
        ("Usuario: Me mudé a Sevilla", "Usuario: Vivo en Madrid"),
        ("User: I got married in May", "User: I'm single"),
    ],
)
def test_a_new_value_closes_the_old_one(new: str, old: str) -> None:
    assert closed_by(new, ["User: I like tea", old]) == [1]


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Nora: I moved to Porto", "Max: I live in Lyon"),
        ("User: I used to live in Porto", "User: I live in Lyon"),
        ("User: I want to move, I moved to nothing yet", "User: I live in Lyon"),
        ("User: I don't live in Porto", "User: I live in Lyon"),
        ("User: My friend moved to Porto", "User: I live in Lyon"),
        ("User: I work at a bank", "User: I live in Lyon"),
        ("User: I live in Lyon", "User: I live in Lyon"),
        ("User: I like Porto", "User: I like Lyon"),
    ],
)
def test_what_is_no_new_value_closes_nothing(new: str, old: str) -> None:
    assert closed_by(new, [old]) == []


def test_a_statement_of_no_slot_has_none() -> None:
    assert slot_of("User: I like tea") is None
    assert slot_of("") is None
