"""Embedder over any OpenAI-compatible /embeddings endpoint."""

from __future__ import annotations

import base64
import binascii
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import openai
import orjson

from core.adapters.deadline import CLOSE_SECONDS, MODEL_CALLS
from core.adapters.openai_errors import EMBEDDINGS, describe, to_model_error
from core.ports.models import Matrix, ModelError
from core.text.budget import clean

_BATCH = 128  # texts of one request; the smallest limit among widely used servers is above it

# (name contains, prefix of queries, prefix of passages): models trained with their sides marked in the text
_SIDES = (("e5", "query: ", "passage: "), ("nomic-embed", "search_query: ", "search_document: "))
# (name contains, low, high): cosines of unrelated and of near-identical text, from the models' own cards and
# common experience; a model not listed gets the widest range
_CALIBRATIONS = (("e5", 0.75, 0.94), ("ada-002", 0.70, 0.93), ("text-embedding-3", 0.10, 0.75), ("bge-", 0.40, 0.90))
_DEFAULT_CALIBRATION = (0.15, 0.85)


class OpenAIEmbedder:
    """Batched; every answer is checked against its request before it is used.

    `dims` None = probed by the first call. `timeout` is the total deadline of one request, in seconds.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None,
        api_key: str | None,
        dims: int | None = None,
        timeout: float = 30.0,
    ) -> None:
        self.name = model
        self._timeout = timeout
        self._dims = dims
        self._configured = dims is not None
        self._probing = threading.Lock()
        self._base64 = True  # a third of the bytes of a list of decimals; given up where the endpoint refuses it
        self._query_side, self._passage_side = _sides(model)
        self._client = openai.AsyncOpenAI(
            api_key=api_key or "none", base_url=base_url, max_retries=0, timeout=timeout
        )

    @property
    def dims(self) -> int:
        if self._dims is None:
            with self._probing:
                if self._dims is None:
                    self._dims = self._request(["dimensions"]).shape[1]
        return self._dims

    @property
    def calibration(self) -> tuple[float, float]:
        for part, low, high in _CALIBRATIONS:
            if part in self.name.lower():
                return low, high
        return _DEFAULT_CALIBRATION

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.empty((0, self.dims), dtype=np.float32)
        sided = [self._passage_side + clean(text) for text in texts]
        return np.concatenate([self._embed(sided[at : at + _BATCH]) for at in range(0, len(sided), _BATCH)])

    def embed_query(self, text: str) -> Matrix:
        vector: Matrix = self._embed([self._query_side + clean(text)])[0]
        return vector

    def close(self) -> None:
        """Give the connections back."""
        MODEL_CALLS.run(self._client.close(), CLOSE_SECONDS)

    def _embed(self, texts: list[str]) -> Matrix:
        matrix = self._request(texts)
        if matrix.shape[1] != self.dims:
            raise _unusable(f"{matrix.shape[1]} dimensions instead of {self.dims}")
        return matrix

    def _request(self, texts: list[str]) -> Matrix:
        try:
            content = self._send(texts)
        except openai.APIStatusError as error:
            if not (self._base64 and error.status_code in (400, 422) and "encoding_format" in describe(error)):
                raise to_model_error(error, EMBEDDINGS) from error
            self._base64 = False
            return self._request(texts)
        except (openai.OpenAIError, TimeoutError) as error:
            raise to_model_error(error, EMBEDDINGS) from error
        return read_matrix(content, len(texts))

    def _send(self, texts: list[str]) -> bytes:
        keys: dict[str, Any] = {"encoding_format": "base64" if self._base64 else "float"}
        if self._configured and "text-embedding-3" in self.name:  # models that can be asked to shorten their vectors
            keys["dimensions"] = self._dims
        call = self._client.embeddings.with_raw_response.create(model=self.name, input=texts, **keys)
        return MODEL_CALLS.run(call, self._timeout).content


def read_matrix(content: bytes, count: int) -> Matrix:
    """L2-normalised float32 of shape (count, dims), in the order of the request.

    Raises ModelError when the answer has another count, an index out of place, rows of differing length,
    or numbers that are not finite. A short answer is never padded or paired up with the wrong texts.
    """
    try:
        data = orjson.loads(content)["data"]
        rows = sorted(data, key=lambda row: row["index"]) if all("index" in row for row in data) else data
        vectors = [_vector(row["embedding"]) for row in rows]
        indexes = [row.get("index", at) for at, row in enumerate(rows)]
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError, binascii.Error) as error:
        raise _unusable(f"not an embeddings answer ({type(error).__name__})") from error
    if len(vectors) != count:
        raise _unusable(f"{len(vectors)} vectors for {count} texts")
    if indexes != list(range(count)):
        raise _unusable("indexes that do not match the request")
    if len({len(vector) for vector in vectors}) != 1 or len(vectors[0]) == 0:
        raise _unusable("vectors of differing or no length")
    matrix = np.stack(vectors)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or not norms.all():
        raise _unusable("numbers that are not finite, or a zero vector")
    normalised: Matrix = (matrix / norms).astype(np.float32)
    return normalised


def _vector(raw: Any) -> Matrix:
    """One embedding: a list of numbers, or base64 of little-endian float32."""
    if isinstance(raw, str):
        return np.frombuffer(base64.b64decode(raw, validate=True), dtype="<f4").astype(np.float32)
    vector = np.asarray(raw, dtype=np.float32)
    if vector.ndim != 1:
        raise ValueError("not a vector")
    return vector


def _sides(model: str) -> tuple[str, str]:
    for part, query, passage in _SIDES:
        if part in model.lower():
            return query, passage
    return "", ""


def _unusable(what: str) -> ModelError:
    return ModelError(f"The embedder answered with {what}.", code=EMBEDDINGS.unavailable)
