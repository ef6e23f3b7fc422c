"""Cutting a conversation into windows."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.memory import Turn
from core.services.extract_model.windows import windows
from core.text.budget import estimate_tokens

NOW = datetime(2026, 5, 20, tzinfo=UTC)


def turns_of(*texts: str) -> list[Turn]:
    return [Turn(index, "user", text, NOW) for index, text in enumerate(texts)]


@settings(deadline=None)
@given(st.lists(st.text("ab。 \n", min_size=1, max_size=300), max_size=12), st.integers(40, 400))
def test_every_turn_is_in_exactly_one_window_whole_and_in_order(texts: list[str], tokens: int) -> None:
    turns = turns_of(*[text for text in texts if text.strip()])
    found = windows(turns, tokens)
    joined: dict[int, str] = {}
    for window in found:
        for turn in window.turns:
            joined[turn.index] = joined.get(turn.index, "") + turn.text
    assert list(joined) == [turn.index for turn in turns]
    assert {index: text.split() for index, text in joined.items()} == {t.index: t.text.split() for t in turns}
    for window in found:
        assert sum(estimate_tokens(turn.text) for turn in [*window.before, *window.turns]) <= tokens


def test_a_short_conversation_is_one_window() -> None:
    assert len(windows(turns_of(*["hello there"] * 20), 6_000)) == 1


def test_nothing_said_is_no_window() -> None:
    assert windows([], 6_000) == []


def test_the_last_two_messages_are_shown_again_as_context() -> None:
    first, second = windows(turns_of(*[f"message {at} " + "word " * 20 for at in range(6)]), 230)
    assert [turn.index for turn in first.turns] == [0, 1, 2, 3]
    assert [turn.index for turn in second.before] == [2, 3]
    assert [turn.index for turn in second.turns] == [4, 5]


@pytest.mark.parametrize("text", ["word " * 4_000, "字" * 9_000, "x" * 60_000])
def test_an_oversized_message_is_cut_into_pieces_of_its_own_index(text: str) -> None:
    found = windows(turns_of("hello", text, "bye"), 1_000)
    pieces = [turn.text for window in found for turn in window.turns if turn.index == 1]
    assert len(pieces) > 2
    assert "".join(pieces) == text
