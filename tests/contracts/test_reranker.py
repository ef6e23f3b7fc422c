"""The reranker against an endpoint of Cohere's shape."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from core.adapters.rerank_http import HttpReranker
from core.ports.models import ModelError

_DOCUMENTS = ["I ski", "I live in Porto"]


def _reranker(server: HTTPServer, timeout: float = 5.0) -> HttpReranker:
    return HttpReranker(model="cross", base_url=server.url_for("/v2/"), api_key="k", timeout=timeout)


def _answers(server: HTTPServer, results: Any) -> HttpReranker:
    server.expect_request("/v2/rerank", method="POST").respond_with_json({"results": results})
    return _reranker(server)


def test_scores_come_back_in_the_order_of_the_documents(httpserver: HTTPServer) -> None:
    asked = {"model": "cross", "query": "home?", "documents": _DOCUMENTS, "top_n": 2}
    results = [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}]
    httpserver.expect_request(
        "/v2/rerank", method="POST", json=asked, headers={"authorization": "Bearer k"}
    ).respond_with_json({"results": results})
    assert _reranker(httpserver).rerank("home?", _DOCUMENTS) == [0.2, 0.9]


def test_logits_become_probabilities_in_the_same_order(httpserver: HTTPServer) -> None:
    results = [{"index": 0, "relevance_score": -3.0}, {"index": 1, "relevance_score": 2.5}]
    low, high = _answers(httpserver, results).rerank("home?", _DOCUMENTS)
    assert 0 < low < 0.5 < high < 1


@pytest.mark.parametrize(
    "results",
    [
        [{"index": 0, "relevance_score": 0.5}],
        [{"index": 0, "relevance_score": 0.5}, {"index": 7, "relevance_score": 0.5}],
        [{"index": 0, "relevance_score": 0.5}, {"index": 1, "relevance_score": "high"}],
        "none",
    ],
    ids=["one is missing", "an index from elsewhere", "not a number", "not a list"],
)
def test_an_answer_that_does_not_fit_is_an_error(httpserver: HTTPServer, results: Any) -> None:
    with pytest.raises(ModelError):
        _answers(httpserver, results).rerank("home?", _DOCUMENTS)


@pytest.mark.parametrize(("status", "about"), [(500, "provider"), (429, "provider"), (400, "input")])
def test_a_refusal_says_whose_fault_it_is(httpserver: HTTPServer, status: int, about: str) -> None:
    httpserver.expect_request("/v2/rerank").respond_with_data("no", status=status)
    with pytest.raises(ModelError) as caught:
        _reranker(httpserver).rerank("home?", _DOCUMENTS)
    assert caught.value.about == about


def test_a_server_that_is_not_there_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="cannot be reached"):
        HttpReranker(model="cross", base_url="http://127.0.0.1:9").rerank("home?", _DOCUMENTS)


def test_nothing_to_rank_asks_nobody() -> None:
    assert HttpReranker(model="cross", base_url="http://127.0.0.1:9").rerank("home?", []) == []
