"""A scripted OpenAI-compatible endpoint on loopback: /chat/completions and /embeddings over real sockets.

    with ModelServer() as server:
        server.chat.script(reply("hello"), Reply(429, headers={"Retry-After": "1"}), lambda request: reply("…"))
        server.chat_model().complete(…)
        assert server.chat.requests[0].body["model"] == "m"

Replies come from the script in order, then from `default`, which may be a Reply or a function of the request.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from core.adapters.openai_chat import OpenAIChat
from core.adapters.openai_embedder import OpenAIEmbedder


@dataclass(frozen=True)
class Request:
    """One request as it came in."""

    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def text(self) -> str:
        """All message contents of a chat request, or all inputs of an embeddings request, joined by lines."""
        if self.path.endswith("/embeddings"):
            return "\n".join(self.body["input"])
        return "\n".join(str(message.get("content") or "") for message in self.body["messages"])


@dataclass(frozen=True)
class Reply:
    """One answer. `body` is sent as JSON unless it is bytes. `delay` passes before the first byte;
    with `drip` the body goes out byte by byte, that many seconds apart; `hang_up` closes without an answer."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drip: float | None = None
    hang_up: bool = False

    @property
    def raw(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


Step = Reply | Callable[[Request], Reply]


@dataclass
class Route:
    """The script and the record of one path. What `aside` answers takes no step of the script and is not recorded:
    requests that come at their own time, in the background."""

    default: Step
    aside: Callable[[Request], Reply | None] = lambda _: None
    requests: list[Request] = field(default_factory=list)
    _script: deque[Step] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def script(self, *steps: Step) -> None:
        with self._lock:
            self._script.extend(steps)

    def reset(self) -> None:
        with self._lock:
            self._script.clear()
            self.requests.clear()

    def answer(self, request: Request) -> Reply:
        apart = self.aside(request)
        if apart is not None:
            return apart
        with self._lock:
            self.requests.append(request)
            step = self._script.popleft() if self._script else self.default
        return step if isinstance(step, Reply) else step(request)


def reply(content: Any, finish_reason: str = "stop", **more: Any) -> Reply:
    """A chat completion with this content (a string, or an object that is sent as JSON text)."""
    text = content if isinstance(content, str) or content is None else json.dumps(content, ensure_ascii=False)
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}
    return Reply(200, {"id": "c", "object": "chat.completion", "choices": [choice], "usage": usage}, **more)


def memories(*items: Any) -> Reply:
    """A chat completion in the extraction schema; a plain string stands for {"text": …}."""
    return reply({"memories": [{"text": item} if isinstance(item, str) else item for item in items]})


def error(status: int, message: str = "scripted", headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(status, {"error": {"message": message, "type": "scripted"}}, headers or {})


def hash_vector(text: str, dims: int) -> list[float]:
    """A deterministic unit vector of the text."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(dims)
    return [float(x) for x in vector / np.linalg.norm(vector)]


def embeddings(request: Request, dims: int = 8, vectors: Sequence[Sequence[float]] | None = None) -> Reply:
    """The embeddings answer to a request, in the encoding it asks for."""
    rows = vectors if vectors is not None else [hash_vector(text, dims) for text in request.body["input"]]
    as_base64 = request.body.get("encoding_format") == "base64"

    def encoded(row: Sequence[float]) -> Any:
        return base64.b64encode(np.asarray(row, dtype="<f4").tobytes()).decode() if as_base64 else list(row)

    data = [{"object": "embedding", "index": at, "embedding": encoded(row)} for at, row in enumerate(rows)]
    return Reply(200, {"object": "list", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}})


class ModelServer:
    """A context manager; `url` is the base URL to configure (…/v1)."""

    def __init__(self, dims: int = 8) -> None:
        self.chat = Route(memories())
        self.embeddings = Route(lambda request: embeddings(request, dims))
        self._stopping = threading.Event()
        self._clients: list[OpenAIChat | OpenAIEmbedder] = []
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients:
            client.close()
        self._stopping.set()  # wakes the replies that still wait
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def chat_model(self, timeout: float = 5.0) -> OpenAIChat:
        """A client of this server, closed with it."""
        made = OpenAIChat(model="double", base_url=self.url, api_key=None, timeout=timeout)
        self._clients.append(made)
        return made

    def embedder(self, *, model: str = "double", dims: int | None = None) -> OpenAIEmbedder:
        """A client of this server, closed with it."""
        made = OpenAIEmbedder(model=model, base_url=self.url, api_key=None, dims=dims, timeout=5.0)
        self._clients.append(made)
        return made

    def pause(self, seconds: float) -> bool:
        """Waits like a slow model. True when the server is being stopped meanwhile."""
        return self._stopping.wait(seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    owner: ModelServer

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that gives up is part of the tests, not an error of the server."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        owner = self.server.owner
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        request = Request(self.path, dict(self.headers.items()), json.loads(raw))
        routes = {"/chat/completions": owner.chat, "/embeddings": owner.embeddings}
        route = next((route for end, route in routes.items() if self.path.endswith(end)), None)
        answer = route.answer(request) if route else error(404, "no such path")
        if (answer.delay and owner.pause(answer.delay)) or answer.hang_up:
            self.close_connection = True
            return
        self._send(answer)

    def _send(self, answer: Reply) -> None:
        self.send_response(answer.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer.raw)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if answer.drip is None:
            self.wfile.write(answer.raw)
            return
        for at in range(len(answer.raw)):
            self.wfile.write(answer.raw[at : at + 1])
            self.wfile.flush()
            if self.server.owner.pause(answer.drip):
                self.close_connection = True
                return

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: the record of requests is in `Route.requests`."""
