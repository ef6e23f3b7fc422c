"""The app on a real socket, and raw requests to it: targets and bodies leave as they are written."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
from fastapi import FastAPI

from tests.api.doubles import HEADERS


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)


@dataclass(frozen=True)
class Server:
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def send(
        self, method: str, target: str, body: Any = None, headers: Mapping[str, str | None] | None = None
    ) -> Reply:
        """`body`: bytes as they are, an iterator chunked, anything else as JSON. A header of None is left out."""
        merged = {**HEADERS, **(headers or {})}
        content = body
        if body is not None and not isinstance(body, bytes | Iterator):
            content = json.dumps(body).encode()
            merged.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.putrequest(method, target, skip_accept_encoding=True)
            for name, value in merged.items():
                if value is not None:
                    connection.putheader(name, value)
            _send(connection, content)
            response = connection.getresponse()
            return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()


def _send(connection: http.client.HTTPConnection, content: Any) -> None:
    if content is None:
        connection.endheaders()
    elif isinstance(content, bytes):
        connection.putheader("Content-Length", str(len(content)))
        connection.endheaders(content)
    else:
        connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders(content, encode_chunked=True)


@contextmanager
def serving(app: FastAPI) -> Iterator[Server]:
    """uvicorn in a thread on a free port of the loopback, until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(app, log_config=None, lifespan="on", timeout_graceful_shutdown=2)
        server = _Announcing(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        assert server.up.wait(20), "the server did not start"
        try:
            yield Server(listener.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(20)


class _Announcing(uvicorn.Server):
    """Sets `up` when it listens, so that nobody has to poll."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()
