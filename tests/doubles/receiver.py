"""A webhook receiver on loopback, which checks signatures with the library of the standard."""

from __future__ import annotations

import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook as Verifier


class Receiver:
    """A webhook receiver on loopback that answers 200 to everything."""

    def __init__(self) -> None:
        self._got: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()
        got = self._got

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                got.put(({name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/hook"

    def verified(self, secret: str) -> Any:
        """The next delivery, its signature checked by the standard's own library; waits for it."""
        headers, body = self._got.get(timeout=30)
        Verifier(secret).verify(body, headers)
        return json.loads(body)

    @property
    def waiting(self) -> int:
        return self._got.qsize()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
