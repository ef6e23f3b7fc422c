"""Reranker over any endpoint of Cohere's shape: POST {base}/rerank (Cohere, Jina, vLLM, Infinity).

Request: {"model", "query", "documents": [str], "top_n"}; answer: {"results": [{"index", "relevance_score"}]}.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import httpx
import orjson

from core.adapters.deadline import MODEL_CALLS
from core.adapters.openai_errors import Codes, status_error
from core.adapters.rerank_scores import unit
from core.ports.models import ModelError

_CODES = Codes("model_unavailable", "model_rejected")
_LONGEST_ANSWER = 4 * 1024 * 1024  # bytes


class HttpReranker:
    """`timeout` is the total deadline of one request, in seconds, short because a person waits for it."""

    def __init__(self, *, model: str, base_url: str, api_key: str | None = None, timeout: float = 5.0) -> None:
        self.name = model
        self._timeout = timeout
        headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._url = base_url.rstrip("/") + "/rerank"
        self._client = httpx.AsyncClient(headers=headers, timeout=timeout, follow_redirects=False)

    def rerank(self, query: str, documents: Sequence[str]) -> list[float]:
        """Relevance in [0, 1] of each document, in the order given. Raises ModelError."""
        if not documents:
            return []
        body = {"model": self.name, "query": query, "documents": list(documents), "top_n": len(documents)}
        try:
            response = MODEL_CALLS.run(self._client.post(self._url, json=body), self._timeout)
        except TimeoutError as error:
            raise ModelError("The reranker did not answer within its deadline.") from error
        except httpx.HTTPError as error:
            raise ModelError(f"The reranker cannot be reached: {type(error).__name__}") from error
        if response.status_code != httpx.codes.OK:
            raise status_error(response.status_code, response.reason_phrase, _CODES, response.headers)
        return _relevance(response.content, len(documents))


def _relevance(content: bytes, count: int) -> list[float]:
    """Every document exactly once, or ModelError: a missing score must not become a zero."""
    if len(content) > _LONGEST_ANSWER:
        raise _unusable("an answer of several megabytes")
    try:
        scores = {int(row["index"]): float(row["relevance_score"]) for row in orjson.loads(content)["results"]}
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise _unusable(f"not a rerank answer ({type(error).__name__})") from error
    if set(scores) != set(range(count)) or not all(map(math.isfinite, scores.values())):
        raise _unusable(f"{len(scores)} usable scores for {count} documents")
    return unit([scores[index] for index in range(count)])


def _unusable(what: Any) -> ModelError:
    return ModelError(f"The reranker answered with {what}.")
