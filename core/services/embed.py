"""Embedding of many texts at once, so that one bad text fails alone."""

from __future__ import annotations

from collections.abc import Sequence

from core.ports.models import Embedder, Matrix, ModelError, Usage

# what a working provider embeds; asked when a batch fails, to tell a bad text from an outage
PROBE = "ok"


def embed_all(embedder: Embedder, texts: Sequence[str], usage: Usage | None = None) -> list[Matrix | ModelError]:
    """One vector of shape (dims,), or one ModelError about the input, for each text, in order.

    One call when all goes well. A failed or short batch is halved and tried again, down to the single texts,
    each of which has a second try; so one bad text costs about 2·log2(n) calls, and vectors are never paired
    with texts by position in an answer of another length. Raises ModelError (about the provider) when the
    provider as a whole fails: over quota, or not able to embed even a harmless word.
    """
    return _Embedding(embedder, usage or Usage()).all_of(list(texts))


class _Embedding:
    """One run: whether the provider has shown to be up is remembered between its halves."""

    def __init__(self, embedder: Embedder, usage: Usage) -> None:
        self._embedder = embedder
        self._usage = usage
        self._provider_is_up = False

    def all_of(self, texts: list[str]) -> list[Matrix | ModelError]:
        if not texts:
            return []
        try:
            rows = self._call(texts)
        except ModelError as error:
            return self._apart(texts, error)
        return list(rows)

    def _apart(self, texts: list[str], error: ModelError) -> list[Matrix | ModelError]:
        """The batch failed: halve it, or judge the single text."""
        self._raise_in_an_outage(error)
        if len(texts) > 1:
            middle = len(texts) // 2
            return [*self.all_of(texts[:middle]), *self.all_of(texts[middle:])]
        if error.about == "input":
            return [error]
        try:
            return [self._call(texts)[0]]
        except ModelError as again:
            if again.code == "rate_limited":
                raise
            return [ModelError(f"The embedder fails at this text: {again}", about="input", code="embedding_failed")]

    def _call(self, texts: list[str]) -> Matrix:
        self._usage.embedding_calls += 1
        rows = self._embedder.embed_passages(texts)
        self._usage.embedded_texts += len(texts)
        if len(rows) != len(texts):
            raise ModelError(f"{len(rows)} vectors for {len(texts)} texts.", code="embedder_unavailable")
        return rows

    def _raise_in_an_outage(self, error: ModelError) -> None:
        if error.code == "rate_limited":
            raise error
        if error.about == "provider" and not self._provider_is_up:
            self._call([PROBE])
            self._provider_is_up = True
