"""The HTTP side: routes, key, body, and answers in Qdrant's envelope `{"result", "status", "time"}`."""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from deploy.local.endpoint import reads, writes
from deploy.local.endpoint.collections import Collection, Store
from deploy.local.endpoint.errors import Refused, wrong_input
from deploy.local.endpoint.vectors import Schema

MAX_BODY_BYTES = 32 * 1024 * 1024  # Qdrant's own default
FLUSH_CHECK_SECONDS = 1.0


@dataclass(frozen=True)
class Call:
    """One request, read and parsed."""

    store: Store
    names: dict[str, str]  # from the path
    body: dict[str, Any]

    @property
    def collection(self) -> Collection:
        return self.store.get(self.names["name"])


Handler = Callable[[Call], Any]


def create_app(store: Store, api_key: str) -> Starlette:
    def route(method: str, path: str, handler: Handler) -> Route:
        return Route(path, partial(_answer, store, api_key, handler), methods=[method])

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        flusher = asyncio.create_task(_flush_regularly(store))
        yield
        flusher.cancel()

    routes = [route(method, path, handler) for method, path, handler in _ROUTES]
    routes += [Route("/", _root), *(Route(path, _alive) for path in ("/healthz", "/livez", "/readyz"))]
    return Starlette(
        routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _no_route, Exception: _broken}
    )


async def _flush_regularly(store: Store) -> None:
    while True:
        await asyncio.sleep(FLUSH_CHECK_SECONDS)
        store.flush_when_due()


async def _answer(store: Store, api_key: str, handler: Handler, request: Request) -> Response:
    began = time.perf_counter()
    try:
        _authorise(request, api_key)
        body = _parsed(await _read(request))
        store.used_at = time.monotonic()
        result = handler(Call(store, request.path_params, body))
    except Refused as refused:
        return _reply({"status": {"error": str(refused)}, "time": time.perf_counter() - began}, refused.status)
    return _reply({"result": result, "status": "ok", "time": time.perf_counter() - began})


def _authorise(request: Request, api_key: str) -> None:
    given = request.headers.get("api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
    if not hmac.compare_digest(given.encode(), api_key.encode()):
        raise Refused(401, "Unauthorized: the header api-key is missing or wrong")


async def _read(request: Request) -> bytes:
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > MAX_BODY_BYTES:
            raise Refused(413, f"Payload too large: the limit is {MAX_BODY_BYTES} bytes")
        chunks.append(chunk)
    return b"".join(chunks)


def _parsed(raw: bytes) -> dict[str, Any]:
    if not raw:
        return {}
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise Refused(400, f"Format error in JSON body: {error}") from error
    if not isinstance(body, dict):
        raise wrong_input("the body must be a JSON object")
    return body


def _reply(content: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(content), status, media_type="application/json")


async def _no_route(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _reply(
        {"status": {"error": f"{error.detail}: not served by this endpoint"}, "time": 0.0}, error.status_code
    )


async def _broken(_: Request, error: Exception) -> Response:
    """The server logs it with its traceback."""
    return _reply({"status": {"error": f"Service internal error: {type(error).__name__}"}, "time": 0.0}, 500)


async def _root(_: Request) -> Response:
    """`version` is that of the REST protocol spoken, which clients compare with their own."""
    edge = f"edge {version('qdrant-edge-py')}"
    return _reply({"title": "qdrant - memlane local endpoint", "version": version("qdrant-client"), "commit": edge})


async def _alive(request: Request) -> Response:
    return Response(f"{request.url.path[1:]} check passed", media_type="text/plain")


def _create(call: Call) -> bool:
    call.store.create(call.names["name"], Schema.of_request(call.body))
    return True


def _read_route(read: Callable[[Collection, dict[str, Any]], Any]) -> Handler:
    return lambda call: read(call.collection, call.body)


def _write_route(write: writes.Write) -> Handler:
    return lambda call: writes.apply(call.collection, write, call.body)


_POINTS = "/collections/{name}/points"
_ROUTES: list[tuple[str, str, Handler]] = [
    ("POST", f"{_POINTS}/query/batch", _read_route(reads.query_batch)),
    ("POST", f"{_POINTS}/query", _read_route(reads.query)),
    ("POST", f"{_POINTS}/scroll", _read_route(reads.scroll)),
    ("POST", f"{_POINTS}/count", _read_route(reads.count)),
    ("POST", _POINTS, _read_route(reads.retrieve)),
    ("GET", f"{_POINTS}/{{id}}", lambda call: reads.retrieve_one(call.collection, call.names["id"])),
    ("PUT", _POINTS, _write_route(writes.upsert)),
    ("POST", f"{_POINTS}/batch", lambda call: writes.apply_batch(call.collection, call.body)),
    ("POST", f"{_POINTS}/delete", _write_route(writes.delete)),
    ("PUT", f"{_POINTS}/vectors", _write_route(writes.update_vectors)),
    ("POST", f"{_POINTS}/vectors/delete", _write_route(writes.delete_vectors)),
    ("POST", f"{_POINTS}/payload", _write_route(writes.set_payload)),
    ("PUT", f"{_POINTS}/payload", _write_route(writes.overwrite_payload)),
    ("POST", f"{_POINTS}/payload/delete", _write_route(writes.delete_payload)),
    ("POST", f"{_POINTS}/payload/clear", _write_route(writes.clear_payload)),
    ("GET", "/collections", lambda call: reads.listing(call.store)),
    ("PUT", "/collections/{name}", _create),
    ("GET", "/collections/{name}", lambda call: reads.describe(call.collection)),
    ("DELETE", "/collections/{name}", lambda call: call.store.delete(call.names["name"])),
    ("GET", "/collections/{name}/exists", lambda call: {"exists": call.names["name"] in call.store.names}),
    ("PUT", "/collections/{name}/index", _write_route(writes.create_index)),
    (
        "DELETE",
        "/collections/{name}/index/{field}",
        lambda call: writes.drop_index(call.collection, call.names["field"]),
    ),
]
