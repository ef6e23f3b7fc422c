"""One bad text fails alone; an outage is told apart from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from core.adapters.query_cache import CachedQueries
from core.ports.models import Matrix, ModelError, Usage
from core.services.embed import embed_all
from tests.doubles.fast import FastEmbedder
from tests.doubles.model_server import ModelServer, Reply, Request, embeddings, error


class Picky(FastEmbedder):
    """Fails where `fails` gives an error for the batch."""

    def __init__(self, fails: Callable[[Sequence[str]], ModelError | None]) -> None:
        super().__init__(dims=16)
        self._fails = fails

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        failure = self._fails(texts)
        if failure is not None:
            self.calls += 1
            raise failure
        return super().embed_passages(texts)


TEXTS = [f"fact {at}" for at in range(8)]


def test_one_call_when_all_goes_well() -> None:
    embedder, usage = FastEmbedder(), Usage()
    rows = embed_all(embedder, TEXTS, usage)
    vectors = [row for row in rows if not isinstance(row, ModelError)]
    assert np.array_equal(np.stack(vectors), embedder.embed_passages(TEXTS))
    assert (usage.embedding_calls, usage.embedded_texts) == (1, 8)


@pytest.mark.parametrize("bad", [0, 3, 7])
@pytest.mark.parametrize("about", ["input", "provider"])
def test_a_bad_text_fails_alone_in_a_bounded_number_of_calls(bad: int, about: str) -> None:
    embedder = Picky(lambda texts: ModelError("no", about=about) if TEXTS[bad] in texts else None)
    rows = embed_all(embedder, TEXTS)
    assert [at for at, row in enumerate(rows) if isinstance(row, ModelError)] == [bad]
    failure = rows[bad]
    assert isinstance(failure, ModelError)
    assert failure.about == "input"
    assert embedder.calls <= 9


def test_a_text_that_fails_once_is_not_called_bad() -> None:
    once = iter([ModelError("hiccup")])
    rows = embed_all(Picky(lambda texts: next(once, None)), ["tea"])
    assert not isinstance(rows[0], ModelError)


def test_an_outage_is_the_providers_and_costs_two_calls() -> None:
    embedder = Picky(lambda texts: ModelError("down"))
    with pytest.raises(ModelError) as caught:
        embed_all(embedder, TEXTS)
    assert caught.value.about == "provider"
    assert embedder.calls == 2


def test_over_quota_is_not_answered_with_more_calls() -> None:
    embedder = Picky(lambda texts: ModelError("slow down", code="rate_limited", retry_after=9))
    with pytest.raises(ModelError) as caught:
        embed_all(embedder, TEXTS)
    assert caught.value.retry_after == 9
    assert embedder.calls == 1


def test_a_provider_that_answers_short_is_halved_never_paired_up() -> None:
    def short(request: Request) -> Reply:
        first_two = request.body | {"input": request.body["input"][:2]}
        return embeddings(Request(request.path, request.headers, first_two))

    with ModelServer() as server:
        server.embeddings.default = short
        embedder = server.embedder(dims=8)
        rows = embed_all(embedder, TEXTS)
        for row, text in zip(rows, TEXTS, strict=True):
            assert not isinstance(row, ModelError)
            assert np.allclose(row, embedder.embed_passages([text])[0])


def test_a_server_error_for_one_word_names_that_text() -> None:
    """C17: the embedder answers 500 wherever it sees the word."""
    with ModelServer() as server:
        server.embeddings.default = lambda request: (
            error(500) if "penicillin" in request.text else embeddings(request)
        )
        embedder = server.embedder(dims=8)
        bad, good = embed_all(embedder, ["User is allergic to penicillin", "User skis"])
    assert isinstance(bad, ModelError)
    assert (bad.about, bad.code) == ("input", "embedding_failed")
    assert not isinstance(good, ModelError)


def test_nothing_to_embed_is_no_call() -> None:
    embedder = FastEmbedder()
    assert embed_all(embedder, []) == []
    assert embedder.calls == 0


def test_a_repeated_query_is_embedded_once_and_the_oldest_is_forgotten() -> None:
    inner = FastEmbedder()
    cached = CachedQueries(inner, size=2)
    for query in ["a", "b", "a", "a", "c", "a", "b"]:
        assert np.array_equal(cached.embed_query(query), FastEmbedder().embed_query(query))
    assert inner.calls == 4, "a, b, c, and b again after c pushed it out"


def test_cached_vectors_cannot_be_written_by_a_caller() -> None:
    with pytest.raises(ValueError, match="read-only"):
        CachedQueries(FastEmbedder()).embed_query("a")[0] = 1.0
