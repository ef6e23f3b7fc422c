"""Values that must be compared alike in Python, PostgreSQL and Qdrant: JSON values, and letters without case."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.domain.canonical_json import canonical_json
from core.domain.casefold import fold, variants
from core.domain.payload import meta_token


@pytest.mark.parametrize(
    ("left", "right"),
    [(1, 1.0), (100, 1e2), (0, -0.0), (10**300, 1e300), (0.1, 1e-1), ({"a": 1, "b": 2}, {"b": 2.0, "a": 1})],
    ids=str,
)
def test_equal_json_values_have_one_text(left: Any, right: Any) -> None:
    assert canonical_json(left) == canonical_json(right)
    assert json.loads(canonical_json(left)) == right


@pytest.mark.parametrize(
    ("left", "right"),
    [(1, True), (0, False), (1, "1"), (None, "null"), ([1, 2], [2, 1]), ([], {}), (0.1, 0.2), (["a"], "a")],
    ids=str,
)
def test_different_json_values_have_different_texts_and_tokens(left: Any, right: Any) -> None:
    assert canonical_json(left) != canonical_json(right)
    assert meta_token("k", left) != meta_token("k", right)


def test_a_token_belongs_to_its_key() -> None:
    assert meta_token("a", "b:c") != meta_token("a:b", "c")
    assert meta_token("k", 1) == meta_token("k", 1.0)


@pytest.mark.parametrize("value", [float("inf"), float("nan"), {1: 2}, object(), {"a": {1, 2}}], ids=str)
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(value)


def test_folding_keeps_the_length_and_joins_exactly_the_variants() -> None:
    for code in range(0x110000):
        char = chr(code)
        folded = fold(char)
        if folded == char:
            continue
        assert len(folded) == 1
        assert fold(folded) == folded
        assert char in variants(folded)
        assert variants(char) == variants(folded)
    assert sorted(variants("k")) == sorted("kK\u212a")
    assert variants("中") == "中"
    assert all(fold(char) == "σ" for char in variants("ς"))
