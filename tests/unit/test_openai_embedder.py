"""What the OpenAI-compatible embedder refuses to pass on, and how it fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from core.ports.models import ModelError
from tests.doubles.model_server import ModelServer, Reply, embeddings, error


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(dims=4) as running:
        yield running


def data(*rows: dict[str, Any]) -> Reply:
    return Reply(200, {"data": list(rows)})


ONE = [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "answer",
    [
        data({"index": 0, "embedding": ONE}),
        data(*({"index": at, "embedding": ONE} for at in range(3))),
        data({"index": 0, "embedding": ONE}, {"index": 0, "embedding": ONE}),
        data({"index": 1, "embedding": ONE}, {"index": 2, "embedding": ONE}),
        data({"index": 0, "embedding": ONE}, {"index": 1, "embedding": ONE[:3]}),
        data({"index": 0, "embedding": [1.0, 0.0]}, {"index": 1, "embedding": [1.0, 0.0]}),
        data({"index": 0, "embedding": ONE}, {"index": 1, "embedding": [0.0] * 4}),
        data({"index": 0, "embedding": ONE}, {"index": 1, "embedding": [None, 0, 0, 0]}),
        data({"index": 0, "embedding": ONE}, {"index": 1, "embedding": "AAD/fwAAAAAAAAAAAAAAAA=="}),
        data({"index": 0, "embedding": ONE}, {"index": 1, "embedding": "not base64!"}),
        data({"index": 0, "embedding": ONE}, {"index": 1}),
        data({"index": 0, "embedding": ONE}, "x"),  # type: ignore[arg-type]
        Reply(200, b'{"data": [{"embedding": [NaN]}]}'),
        Reply(200, {"error": "no"}),
        Reply(200, b"<html>"),
    ],
)
def test_an_answer_that_does_not_fit_the_request_is_an_error_never_a_pairing(
    server: ModelServer, answer: Reply
) -> None:
    server.embeddings.script(answer)
    with pytest.raises(ModelError) as caught:
        server.embedder(dims=4).embed_passages(["a", "b"])
    assert (caught.value.about, caught.value.code) == ("provider", "embedder_unavailable")


@pytest.mark.parametrize(
    ("answer", "about", "code"),
    [
        (error(429, headers={"Retry-After": "2"}), "provider", "rate_limited"),
        (error(500), "provider", "embedder_unavailable"),
        (error(400, "too long"), "input", "embedding_failed"),
        (Reply(hang_up=True), "provider", "embedder_unavailable"),
    ],
)
def test_failures_say_whose_they_are(server: ModelServer, answer: Reply, about: str, code: str) -> None:
    server.embeddings.script(answer)
    with pytest.raises(ModelError) as caught:
        server.embedder(dims=4).embed_query("a")
    assert (caught.value.about, caught.value.code) == (about, code)


def test_rows_come_back_in_the_order_of_the_texts(server: ModelServer) -> None:
    second = [0.0, 2.0, 0.0, 0.0]
    server.embeddings.script(data({"index": 1, "embedding": second}, {"index": 0, "embedding": ONE}))
    matrix = server.embedder(dims=4).embed_passages(["a", "b"])
    assert matrix.tolist() == [ONE, [0.0, 1.0, 0.0, 0.0]]


def test_an_endpoint_that_refuses_base64_is_asked_for_numbers_from_then_on(server: ModelServer) -> None:
    server.embeddings.script(error(400, "encoding_format base64 is not supported"))
    embedder = server.embedder(dims=4)
    embedder.embed_passages(["a"])
    embedder.embed_passages(["b"])
    assert [request.body["encoding_format"] for request in server.embeddings.requests] == ["base64", "float", "float"]


def test_dimensions_are_probed_once_when_not_configured(server: ModelServer) -> None:
    embedder = server.embedder()
    assert embedder.dims == 4
    assert embedder.dims == 4
    assert len(server.embeddings.requests) == 1


def test_a_model_that_changes_its_size_is_an_error(server: ModelServer) -> None:
    embedder = server.embedder()
    assert embedder.dims == 4
    server.embeddings.script(lambda request: embeddings(request, dims=5))
    with pytest.raises(ModelError):
        embedder.embed_query("a")


def test_models_with_sides_get_them(server: ModelServer) -> None:
    embedder = server.embedder(model="multilingual-e5-large", dims=4)
    embedder.embed_passages(["a"])
    embedder.embed_query("b")
    assert [request.body["input"] for request in server.embeddings.requests] == [["passage: a"], ["query: b"]]


def test_many_texts_go_in_batches(server: ModelServer) -> None:
    texts = [f"text {at}" for at in range(300)]
    matrix = server.embedder(dims=4).embed_passages(texts)
    assert [len(request.body["input"]) for request in server.embeddings.requests] == [128, 128, 44]
    assert matrix.shape == (300, 4)
    assert np.allclose(matrix[299], server.embedder(dims=4).embed_passages(["text 299"])[0])
