"""The load generator charges a stalling server for everybody who would have come meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request as HttpRequest
from werkzeug import Response

from deploy.bench.ack import add_request
from deploy.bench.open_loop import Request, Schedule, open_loop


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    with HTTPServer(threaded=True) as server:
        yield server


def test_every_request_is_sent_once_with_its_key(server: HTTPServer) -> None:
    server.expect_request("/prefix/add", method="POST", headers={"Authorization": "Token k"}).respond_with_data("ok")
    schedule = Schedule(rate=200, seconds=0.2, connections=4)
    samples = open_loop(
        server.url_for("/prefix"), "k", schedule, lambda number: Request("/add", str(number).encode())
    )
    assert [sample.status for sample in samples] == [200] * 40
    assert sorted(int(request.get_data()) for request, _ in server.log) == list(range(40))


def test_latency_counts_from_the_scheduled_start(server: HTTPServer) -> None:
    """One connection, and a server that holds its first answer until 0.3 s after the last request was due."""
    schedule = Schedule(rate=100, seconds=0.1, connections=1)
    started, first = time.perf_counter(), threading.Event()

    def stalls_once(_: HttpRequest) -> Response:
        if not first.is_set():
            first.set()
            threading.Event().wait(0.4)
        return Response("ok")

    server.expect_request("/add").respond_with_handler(stalls_once)
    samples = open_loop(server.url_for(""), "k", schedule, lambda _: Request("/add", b""))
    assert len(samples) == 10
    assert all(sample.latency_ms > 300 for sample in samples), "those behind the stall were not charged for it"
    assert time.perf_counter() - started < 10


def test_a_server_that_is_not_there_is_told_as_status_0() -> None:
    samples = open_loop("http://127.0.0.1:9", "k", Schedule(50, 0.1, 2), lambda _: Request("/add", b""))
    assert {sample.status for sample in samples} == {0}


def test_adds_of_the_load_are_all_different() -> None:
    bodies = {add_request(number, "run").body for number in range(500)}
    assert len(bodies) == 500
