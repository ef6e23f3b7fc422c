"""Sizes of texts and cutting them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.budget import clean, estimate_tokens, split_to_fit


@given(st.text(max_size=400), st.integers(1, 40))
def test_pieces_fit_and_joined_are_the_text(text: str, size: int) -> None:
    pieces = split_to_fit(text, lambda piece: len(piece) <= size)
    assert "".join(pieces) == text
    assert all(len(piece) <= size for piece in pieces)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("One two three.\n\nFour five. Six seven", "One two three.\n\n"),
        ("Dr. Ek is in. He waits for you now", "Dr. Ek is in. "),
        ("我们去公园。然后回家吃饭了", "我们去公园。"),
        ("aaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaa"),
    ],
)
def test_texts_are_cut_at_the_best_border_near_the_middle(text: str, first: str) -> None:
    assert split_to_fit(text, lambda piece: len(piece) <= len(text) - 1)[0] == first


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("", 0, 0),
        ("The quick brown fox jumps over the lazy dog", 10, 16),
        ("今天天气很好我们去公园", 9, 12),
        ("Съешь же ещё этих мягких французских булок", 14, 24),
        ("오늘은 날씨가 좋습니다", 8, 12),
    ],
)
def test_tokens_are_estimated_from_above_but_not_far(text: str, low: int, high: int) -> None:
    assert low <= estimate_tokens(text) <= high


@pytest.mark.parametrize("unit", [".", "\n", " ", '."', "\n ", "a,"])
def test_monotonous_texts_are_cut_in_linear_time(unit: str) -> None:
    text = unit * (300_000 // len(unit)) + "x"
    assert len(split_to_fit(text, lambda piece: len(piece) <= 100_000)) >= 3


def test_what_no_store_takes_becomes_a_space() -> None:
    assert clean("a\x00b\ud83dc😀") == "a b c😀"
