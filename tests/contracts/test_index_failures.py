"""What the index adapter makes of servers that are gone, slow, or answer with something else than success."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from pytest_httpserver import HTTPServer

from core.adapters.qdrant import QdrantIndex
from core.domain.filters import TRUE
from core.domain.ids import new_id
from core.ports.index import IndexQuery, IndexUnavailable, SparseVector
from tests.contracts.test_index import some

_ANY = re.compile(".*")
PROJECT = new_id()
CALLS: list[Callable[[QdrantIndex], object]] = [
    lambda index: index.exists("c"),
    lambda index: index.ensure("c", 4),
    lambda index: index.upsert(["c"], some(PROJECT, 1)),
    lambda index: index.delete(["c"], [new_id()]),
    lambda index: index.query("c", IndexQuery(PROJECT, TRUE, 1, bm25=SparseVector([1], [1.0]))),
    lambda index: index.nearest("c", PROJECT, ["k"], np.ones((1, 4), dtype=np.float32), 1),
    lambda index: list(index.scroll("c")),
    lambda index: index.drop("c"),
    lambda index: index.version(),
]
each_call = pytest.mark.parametrize(
    "call", CALLS, ids=["exists", "ensure", "upsert", "delete", "query", "nearest", "scroll", "drop", "version"]
)


@pytest.fixture
def index_at() -> Iterator[Callable[[str], QdrantIndex]]:
    made: list[QdrantIndex] = []

    def make(url: str) -> QdrantIndex:
        made.append(QdrantIndex(url, "key", timeout=1))
        return made[-1]

    yield make
    for index in made:
        index.close()


@each_call
def test_nobody_listening(
    index_at: Callable[[str], QdrantIndex], free_tcp_port: int, call: Callable[[QdrantIndex], object]
) -> None:
    with pytest.raises(IndexUnavailable):
        call(index_at(f"http://127.0.0.1:{free_tcp_port}"))


@each_call
@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
def test_every_refusal_is_unavailable(
    index_at: Callable[[str], QdrantIndex],
    httpserver: HTTPServer,
    call: Callable[[QdrantIndex], object],
    status: int,
) -> None:
    headers = {"Retry-After": "1"} if status == 429 else {}
    for method in ("GET", "PUT", "POST", "DELETE"):
        httpserver.expect_request(uri=_ANY, method=method).respond_with_json(
            {"status": {"error": "no"}, "time": 0.0}, status=status, headers=headers
        )
    with pytest.raises(IndexUnavailable):
        call(index_at(httpserver.url_for("/")))


@pytest.mark.parametrize("body", ["not json", '{"result": null}', '{"result": {"status": "acknowledged"}}'])
def test_an_upsert_that_was_not_completed_is_unavailable(
    index_at: Callable[[str], QdrantIndex], httpserver: HTTPServer, body: str
) -> None:
    httpserver.expect_request(uri=_ANY, method="PUT").respond_with_data(body, content_type="application/json")
    with pytest.raises(IndexUnavailable):
        index_at(httpserver.url_for("/")).upsert(["c"], some(PROJECT, 1))


@pytest.mark.parametrize(
    "body", ["{}", '{"result": [{}]}', '{"result": []}', '{"result": [{"points": [{"id": 1}]}]}']
)
def test_an_answer_of_another_shape_is_unavailable(
    index_at: Callable[[str], QdrantIndex], httpserver: HTTPServer, body: str
) -> None:
    httpserver.expect_request(uri=_ANY, method="POST").respond_with_data(body, content_type="application/json")
    with pytest.raises(IndexUnavailable):
        index_at(httpserver.url_for("/")).query("c", IndexQuery(PROJECT, TRUE, 1, bm25=SparseVector([1], [1.0])))


def _read_request(connection: socket.socket) -> None:
    """All of it: closing a socket with unread bytes resets the connection, and the answer is lost on its way."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65_536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    left = int(length.group(1)) - len(body) if length else 0
    while left > 0:
        left -= len(connection.recv(65_536))


def test_a_connection_closed_while_idle_is_no_failure(index_at: Callable[[str], QdrantIndex]) -> None:
    """The first connection ends without an answer, as when a server drops an idle one; the request goes out again."""
    body = b'{"result": {"status": "completed"}}'
    answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            for reply in (b"", answer):
                connection, _ = server.accept()
                with connection:
                    _read_request(connection)
                    connection.sendall(reply)

        serving = threading.Thread(target=serve)
        serving.start()
        index_at(f"http://127.0.0.1:{server.getsockname()[1]}").delete(["c"], [new_id()])
        serving.join(10)
        assert not serving.is_alive()


def test_a_server_that_never_answers_costs_the_timeout_and_no_more(index_at: Callable[[str], QdrantIndex]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        index = index_at(f"http://127.0.0.1:{silent.getsockname()[1]}")
        began = time.monotonic()
        with pytest.raises(IndexUnavailable):
            index.upsert(["c"], some(PROJECT, 1))
        assert 0.9 <= time.monotonic() - began < 10
