"""Ports to models: chat, embeddings, reranking. All calls are bounded by a total deadline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]


class ModelError(Exception):
    """A model call failed. `retry_after` in seconds where the provider said so.

    `about` is "provider" (down, slow, over quota: worth a retry, may be an outage) or
    "input" (this request alone is refused: a retry rarely helps).
    """

    def __init__(
        self,
        message: str,
        *,
        about: str = "provider",
        code: str = "model_unavailable",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.about = about
        self.code = code
        self.retry_after = retry_after


class BreakerOpen(ModelError):
    """The model was not asked: it has failed repeatedly, and its next probe is `wait` seconds away.

    Nothing was tried, so it counts as no try of the event.
    """

    def __init__(self, message: str, wait: float) -> None:
        super().__init__(message, retry_after=wait)


@dataclass(frozen=True)
class ChatReply:
    """`text` as the model sent it, unparsed. `finish_reason` as in the chat completions API."""

    text: str
    finish_reason: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass
class Usage:
    """What the models cost, summed over one event's work."""

    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    embedding_calls: int = 0
    embedded_texts: int = 0

    def add(self, reply: ChatReply) -> None:
        self.model_calls += 1
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens


class ChatModel(Protocol):
    """One call, no retries. Raises ModelError."""

    @property
    def name(self) -> str: ...

    def complete(
        self, messages: Sequence[dict[str, Any]], schema: dict[str, Any] | None, max_tokens: int
    ) -> ChatReply: ...


class Embedder(Protocol):
    """Texts to L2-normalised vectors. Sides differ for some models (E5), so they are two methods.

    `embed_passages` returns float32 of shape (len(texts), dims), `embed_query` of shape (dims,). Never a
    shorter matrix: a short answer of the provider raises ModelError. `name` names the model, wherever it
    is served. `dims` may ask the provider, once. All but `name` and `calibration` raise ModelError.
    """

    @property
    def name(self) -> str: ...

    @property
    def dims(self) -> int: ...

    @property
    def calibration(self) -> tuple[float, float]:
        """(low, high): the cosines that become 0 and 1; unrelated and near-identical text for this model."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Matrix: ...

    def embed_query(self, text: str) -> Matrix: ...


class Reranker(Protocol):
    """Relevance of each document to the query, in [0, 1], in the order given. Raises ModelError."""

    def rerank(self, query: str, documents: Sequence[str]) -> list[float]: ...


@dataclass(frozen=True)
class ModelSet:
    """The models of this process; `chat` and `reranker` are None when not configured."""

    embedder: Embedder
    chat: ChatModel | None = None
    reranker: Reranker | None = None
    names: dict[str, str] = field(default_factory=dict)
