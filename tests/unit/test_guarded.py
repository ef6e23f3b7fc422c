"""Models behind breakers: when they are asked, and what is told."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.domain.signals import FIELDS, Signal
from core.ports.models import BreakerOpen, Matrix, ModelError
from core.services.breaker import Breaker
from core.services.embed import embed_all
from core.services.guarded import GuardedChat, GuardedEmbedder
from tests.doubles.fast import FastChat, FastEmbedder

ASK = [{"role": "user", "content": "hello"}]


class World:
    """A clock that is set by hand, a breaker, and what was told."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.breaker = Breaker(lambda: self.now)
        self.told: list[tuple[str, dict[str, Any]]] = []

    def emit(self, name: str, **fields: Any) -> None:
        assert set(fields) <= set(FIELDS[Signal(name)])
        self.told.append((name, fields))

    def states(self) -> list[str]:
        return [fields["state"] for name, fields in self.told if name == Signal.BREAKER]


class FailingChat(FastChat):
    def __init__(self) -> None:
        super().__init__()
        self.error: ModelError | None = ModelError("down")

    def complete(self, *args: Any) -> Any:
        reply = super().complete(*args)
        if self.error is not None:
            raise self.error
        return reply


class FailingEmbedder(FastEmbedder):
    def __init__(self, fails: Callable[[list[str]], bool]) -> None:
        super().__init__(dims=8)
        self._fails = fails

    def embed_passages(self, texts: Any) -> Matrix:
        rows = super().embed_passages(texts)
        if self._fails(list(texts)):
            raise ModelError("500")
        return rows


def test_a_chat_model_that_is_down_is_left_alone_and_probed_later() -> None:
    world, inner = World(), FailingChat()
    chat = GuardedChat(inner, world.breaker, world)
    for _ in range(5):
        with pytest.raises(ModelError):
            chat.complete(ASK, None, 10)
    with pytest.raises(BreakerOpen) as caught:
        chat.complete(ASK, None, 10)
    assert caught.value.retry_after == 5.0
    assert inner.calls == 5
    world.now += timedelta(seconds=5)
    inner.error = None
    assert chat.complete(ASK, None, 10).text
    assert world.states() == ["open", "closed"]
    assert [fields["outcome"] for name, fields in world.told if name == Signal.MODEL_CALL] == [
        *["model_unavailable"] * 5,
        "ok",
    ]


def test_bad_texts_do_not_open_the_embedder_s_breaker() -> None:
    world = World()
    embedder = GuardedEmbedder(FailingEmbedder(lambda texts: "bad" in texts), world.breaker, world)
    for _ in range(5):
        rows = embed_all(embedder, ["a", "bad", "b", "c", "bad", "d", "e", "bad"])
        assert sum(isinstance(row, ModelError) for row in rows) == 3
    assert not world.breaker.open


def test_an_embedder_that_is_down_opens_its_breaker_and_recovers_with_a_whole_batch() -> None:
    world = World()
    down = True
    embedder = GuardedEmbedder(FailingEmbedder(lambda _: down), world.breaker, world)
    for _ in range(5):
        with pytest.raises(ModelError):
            embed_all(embedder, ["a", "b"])
    with pytest.raises(BreakerOpen):
        embed_all(embedder, ["a", "b"])
    world.now += timedelta(seconds=5)
    down = False
    assert len(embed_all(embedder, ["a", "b"])) == 2
    assert world.states() == ["open", "closed"]


def test_a_bad_text_met_by_the_probe_does_not_keep_the_breaker_open() -> None:
    world = World()
    down = True
    embedder = GuardedEmbedder(FailingEmbedder(lambda texts: down or "bad" in texts), world.breaker, world)
    for _ in range(5):
        with pytest.raises(ModelError):
            embed_all(embedder, ["a", "bad"])
    world.now += timedelta(seconds=5)
    down = False
    good, bad = embed_all(embedder, ["a", "bad"])
    assert isinstance(bad, ModelError)
    assert not isinstance(good, ModelError)
    assert not world.breaker.open
