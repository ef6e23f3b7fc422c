"""What happens to every request before and after its route: paths, request ids, one log line.

Clients percent-encode path segments, `/` included (`owner%2Frepo`), and expect the encoded slash to stay inside
its segment; some build `//v1/ping/`, some a path prefix. So routing works on the raw path: split first, then
decode per segment.
"""

from __future__ import annotations

import re
import time
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import respond
from core.domain.errors import MemlaneError
from core.domain.ids import new_id
from core.domain.signals import Signal
from core.ports.runtime import Telemetry

VERSIONS = ("v1", "v2", "v3")
ROOMS = (
    *VERSIONS,
    "api",
    "healthz",
    "readyz",
    "metrics",
    "docs",
    "docs-assets",
    "redoc",
    "openapi.json",
    "mcp",
    "console",
)
MAX_PREFIX = 4  # segments of a path prefix in the client's host
_REQUEST_ID = re.compile(r"[\w.:+/=-]{1,128}", re.ASCII)


def canonical_path(raw_path: bytes) -> tuple[str, str]:
    """(root path, path to route on) of a raw request path.

    Empty segments vanish, API paths get their trailing slash, segments are decoded as UTF-8 with `%` and `/` kept
    encoded. What precedes the first version segment is a prefix of the client's host and becomes the root path.
    Raises MemlaneError("url_invalid").
    """
    segments = [_segment(part) for part in raw_path.split(b"/") if part]
    start = _start(segments)
    root = "".join(f"/{segment}" for segment in segments[:start])
    path = root + "/" + "/".join(segments[start:])
    if len(segments) - start > 1 and segments[start] in (*VERSIONS, "api"):
        path += "/"
    return root, path


def _segment(raw: bytes) -> str:
    return decode(raw).replace("%", "%25").replace("/", "%2F")


def decode(raw: bytes) -> str:
    """Percent-decoding into strict UTF-8 without NUL. Raises MemlaneError("url_invalid")."""
    try:
        text = unquote_to_bytes(raw).decode("utf-8")
    except UnicodeDecodeError:
        raise MemlaneError("url_invalid") from None
    if "\x00" in text:
        raise MemlaneError("url_invalid", "The URL holds a NUL character.")
    return text


def _start(segments: list[str]) -> int:
    """Where the API's own path begins."""
    if not segments or segments[0] in ROOMS:
        return 0
    for index, segment in enumerate(segments[: MAX_PREFIX + 1]):
        following = segments[index + 1] if index + 1 < len(segments) else None
        if segment in VERSIONS or (segment == "api" and following == "v1"):
            return index
    return 0


class CanonicalPath:
    """Rewrites `path` and `root_path` of each request; refuses undecodable paths and queries."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        raw: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
        try:
            root, path = canonical_path(raw)
            decode(scope.get("query_string", b"").replace(b"+", b" "))
        except MemlaneError as error:
            await respond(error)(scope, receive, send)
            return
        outer = scope.get("root_path", "")
        if outer and (path == outer or path.startswith(outer + "/")):
            root = outer  # a prefix that the server was told about
        scope = {**scope, "path": path, "root_path": root}
        await self.app(scope, receive, send)


class WideLog:
    """Gives each request an id and emits one record about it when it is over: facts, never content."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        self.app = app
        self.telemetry = telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        scope.setdefault("state", {})["request_id"] = request_id = _request_id(headers)
        started = time.perf_counter()
        seen: dict[str, Any] = {"status": 500, "bytes": 0}

        async def observed(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen["status"] = message["status"]
                answer = MutableHeaders(scope=message)
                answer["X-Request-Id"] = request_id
                allowance = scope["state"].get("allowance")
                if allowance is not None and allowance.limit:
                    answer["X-RateLimit-Limit"] = str(allowance.limit)
                    answer["X-RateLimit-Remaining"] = str(allowance.remaining)
                    answer["X-RateLimit-Reset"] = str(allowance.reset)
            elif message["type"] == "http.response.body":
                seen["bytes"] += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, observed)
        finally:
            elapsed = round((time.perf_counter() - started) * 1000, 3)
            self.telemetry.emit(Signal.REQUEST, ms=elapsed, **seen, **_facts(scope, headers))


def _request_id(headers: Headers) -> str:
    """The caller's X-Request-Id where it is a plain token (no log injection), else a new one."""
    given = headers.get("x-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else str(new_id())


def _facts(scope: Scope, headers: Headers) -> dict[str, Any]:
    """Who and what; the route's template, never the path, since paths name users."""
    state = scope["state"]
    identity = state.get("identity")
    return {
        "request_id": state["request_id"],
        "method": scope["method"],
        "route": state.get("route", "unmatched"),
        "project_id": str(identity.project_id) if identity else None,
        "key_id": str(identity.key_id) if identity else None,
        "code": state.get("error_code"),
        "client": headers.get("x-mem0-client", headers.get("user-agent", ""))[:200] or None,
        "source": headers.get("x-mem0-source", headers.get("x-application", ""))[:64] or None,
    }
