"""Models behind their circuit breakers: while one is open, a call fails at once instead of knocking again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from core.domain.signals import Signal
from core.ports.models import BreakerOpen, ChatModel, ChatReply, Embedder, Matrix, ModelError
from core.ports.runtime import Telemetry
from core.services.breaker import Breaker
from core.services.embed import PROBE

T = TypeVar("T")


class GuardedChat:
    """A ChatModel. Raises BreakerOpen without a call while the provider is taken to be down."""

    def __init__(self, chat: ChatModel, breaker: Breaker, telemetry: Telemetry) -> None:
        self._chat = chat
        self._calls = _Calls("chat", chat.name, breaker, telemetry)

    @property
    def name(self) -> str:
        return self._chat.name

    def complete(
        self, messages: Sequence[dict[str, Any]], schema: dict[str, Any] | None, max_tokens: int
    ) -> ChatReply:
        return self._calls.run(lambda: self._chat.complete(messages, schema, max_tokens), _reply_fields)


class GuardedEmbedder:
    """An Embedder. A failed batch may be the fault of one text, so it is no mark against the provider; the
    harmless word that `embed_all` asks for next is, and so is a query."""

    def __init__(self, embedder: Embedder, breaker: Breaker, telemetry: Telemetry) -> None:
        self._embedder = embedder
        self._calls = _Calls("embedding", embedder.name, breaker, telemetry)

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dims(self) -> int:
        return self._embedder.dims

    @property
    def calibration(self) -> tuple[float, float]:
        return self._embedder.calibration

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        telling = list(texts) == [PROBE]
        fields = {"texts": len(texts)}
        return self._calls.run(lambda: self._embedder.embed_passages(texts), lambda _: fields, telling)

    def embed_query(self, text: str) -> Matrix:
        return self._calls.run(lambda: self._embedder.embed_query(text), lambda _: {"texts": 1})


class _Calls:
    """Lets calls through or not, records and reports each."""

    def __init__(self, kind: str, model: str, breaker: Breaker, telemetry: Telemetry) -> None:
        self._kind = kind
        self._model = model
        self._breaker = breaker
        self._telemetry = telemetry

    def run(self, call: Callable[[], T], fields: Callable[[T], dict[str, Any]], telling: bool = True) -> T:
        """`telling` = a failure of this call speaks of the provider."""
        wait = self._breaker.allow()
        if wait is not None:
            raise BreakerOpen(f"{self._model} has failed repeatedly and is left alone for {wait:.0f} s.", wait)
        started = time.perf_counter()
        try:
            result = call()
        except ModelError as error:
            self._report(started, error.code, {})
            if telling or error.code == "rate_limited" or error.about == "input":
                self._record(error)
            else:
                self._breaker.release()
            raise
        self._report(started, "ok", fields(result))
        self._record(None)
        return result

    def _record(self, error: ModelError | None) -> None:
        was_open = self._breaker.open
        self._breaker.record(error)
        if self._breaker.open != was_open:
            state = "closed" if was_open else "open"
            self._telemetry.emit(Signal.BREAKER, model=f"{self._kind} {self._model}", state=state)

    def _report(self, started: float, outcome: str, fields: dict[str, Any]) -> None:
        ms = (time.perf_counter() - started) * 1000
        self._telemetry.emit(Signal.MODEL_CALL, kind=self._kind, outcome=outcome, ms=ms, **fields)


def _reply_fields(reply: ChatReply) -> dict[str, Any]:
    return {"prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.completion_tokens}
