"""A webhook receiver on loopback that answers 200 to everything and keeps the ids that it was sent."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class CountingReceiver:
    """A context manager; `ids` counts how often each `webhook-id` came. `before_answer` is called once."""

    def __init__(self) -> None:
        self.ids: Counter[str] = Counter()
        self.before_answer: Callable[[], None] | None = None
        lock, ids, receiver = threading.Lock(), self.ids, self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                with lock:
                    ids[self.headers["webhook-id"]] += 1
                    action, receiver.before_answer = receiver.before_answer, None
                if action is not None:
                    action()
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None: ...

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/hook"

    def __enter__(self) -> CountingReceiver:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """A sender that is killed in the middle is part of the tests, not an error of the receiver."""
