"""What `memlane doctor` says of the API and the workers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from core.settings import Settings
from deploy.cli import process_checks
from deploy.cli.process_checks import alive_workers, api
from deploy.local.ports import free_port
from deploy.local.stack_state import StackState

Serve = Callable[[int, str], str]


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MEMLANE_HOST", "MEMLANE_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(process_checks, "TIMEOUT", 0.3)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Answers every GET with this status and body; returns the address."""
    servers = []

    def start(status: int, body: str) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_: object) -> None: ...

        server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("alive", "state", "says"),
    [
        ({}, "broken", "none alive"),
        ({"webhooks": 1}, "broken", "no ingest worker"),
        ({"ingest": 2}, "warn", "no webhooks worker"),
        ({"ingest": 2, "webhooks": 1}, "ok", "2 ingest, 1 webhooks"),
    ],
)
def test_both_kinds_of_workers_must_live(alive: dict[str, int], state: str, says: str) -> None:
    found = alive_workers(alive)
    assert found.state == state
    assert says in found.detail
    assert bool(found.fix) is (state != "ok")


def running(url: str, ready: bool = True) -> StackState:
    return StackState(home="/data", api_url=url, launcher=None, ready=ready)


def test_an_api_that_answers_is_well(serve: Serve) -> None:
    url = serve(200, '{"status": "degraded", "parts": {}, "degraded": ["worker"]}')
    found = api(Settings(), running(url))
    assert (found.state, found.detail) == ("ok", f"degraded at {url} (missing: worker)")


def test_an_api_that_cannot_accept_is_broken(serve: Serve) -> None:
    found = api(Settings(), running(serve(503, '{"status": "not ready", "degraded": ["database"]}')))
    assert found.state == "broken"
    assert "database" in found.detail


@pytest.mark.parametrize(("status", "body"), [(200, "<html>"), (200, "[]"), (404, '{"error": "x"}')])
def test_another_server_at_the_address_is_no_api(serve: Serve, status: int, body: str) -> None:
    assert api(Settings(), running(serve(status, body))).state == "broken"


def test_a_hanging_api_of_a_running_stack_is_broken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:  # connects, never answers
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        found = api(Settings(), running(url))
        starting = api(Settings(), running(url, ready=False))
    assert found.state == "broken"
    assert "no answer within" in found.detail
    assert "api.log" in found.fix
    assert starting.state == "warn"


def test_an_api_elsewhere_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    assert api(Settings(port=port), None).state == "off"
    monkeypatch.setenv("MEMLANE_PORT", str(port))
    assert api(Settings(), None).state == "warn"
