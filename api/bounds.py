"""What a request must keep to before anything else looks at it: one plain Host, a short address, few headers."""

from __future__ import annotations

import re

from starlette.types import ASGIApp, Receive, Scope, Send

from api.errors import respond
from core.domain.errors import MemlaneError

MAX_URL = 32 * 1024
MAX_HEADERS = 100
MAX_HEADER_BYTES = 64 * 1024
_HOST = re.compile(rb"(?:[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")


class Bounds:
    """Refuses what is beyond. Addresses of pages are built on the Host, so it is read strictly (RFC 9112, 3.2)."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        error = _fault(scope) if scope["type"] == "http" else None
        await (self.app if error is None else respond(error))(scope, receive, send)


def _fault(scope: Scope) -> MemlaneError | None:
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    if len(scope.get("raw_path") or b"") + len(scope.get("query_string", b"")) > MAX_URL:
        return MemlaneError("url_too_long")
    if len(headers) > MAX_HEADERS or sum(len(name) + len(value) for name, value in headers) > MAX_HEADER_BYTES:
        return MemlaneError("headers_too_large")
    hosts = [value for name, value in headers if name == b"host"]
    if not hosts and scope.get("http_version") == "1.0":
        return None
    return None if len(hosts) == 1 and _HOST.fullmatch(hosts[0]) else MemlaneError("host_invalid")
