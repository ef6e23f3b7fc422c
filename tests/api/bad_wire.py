"""What is no proper HTTP: bytes on a socket, and the statuses that come back."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass

from tests.api.bad_inputs import ADD


@dataclass(frozen=True)
class Wire:
    """Bytes on a socket, and the statuses of the answers that come back."""

    row: int
    what: str
    statuses: list[int]
    head: str
    body: bytes = b""

    def __str__(self) -> str:
        return f"{self.row}-{self.what}"

    def bytes_for(self, key: str) -> bytes:
        return (
            self.head.replace("KEY", f"Authorization: Token {key}").replace("\n", "\r\n").encode("latin-1")
            + self.body
        )


_STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
POST = f"POST {ADD} HTTP/1.1\nHost: x\nKEY\n"
JSON = b'{"messages":"x","user_id":"u"}'
WIRE = [
    Wire(45, "length too short", [400], f"{POST}Content-Length: 5\n\n", JSON),
    Wire(46, "length too long", [408], f"{POST}Content-Length: 500\n\n", JSON),
    Wire(47, "a body that stops", [408], f"{POST}Content-Length: 500\n\n", b"{"),
    Wire(48, "negative length", [400], f"{POST}Content-Length: -1\n\n", JSON),
    Wire(48, "two lengths", [400], f"{POST}Content-Length: 30\nContent-Length: 31\n\n", JSON),
    Wire(48, "length and chunks", [400], f"{POST}Content-Length: 30\nTransfer-Encoding: chunked\n\n", JSON),
    Wire(48, "a bad size of a chunk", [400], f"{POST}Transfer-Encoding: chunked\n\n", b"zz\r\nx\r\n0\r\n\r\n"),
    Wire(51, "no Host", [400], "GET /v1/ping/ HTTP/1.1\nKEY\nConnection: close\n\n"),
    Wire(51, "two Hosts", [400], "GET /v1/ping/ HTTP/1.1\nHost: a\nHost: b\nKEY\nConnection: close\n\n"),
    Wire(52, "CR in a header", [400], "GET /v1/ping/ HTTP/1.1\nHost: x\nX-A: a\rb\nKEY\n\n"),
    Wire(52, "folded header", [400], "GET /v1/ping/ HTTP/1.1\nHost: x\nX-A: a\n b\nKEY\n\n"),
    Wire(59, "a method of no kind", [400], "FOO /v1/ping/ HTTP/1.1\nHost: x\nKEY\n\n"),
    Wire(64, "two keys", [401], "GET /v1/ping/ HTTP/1.1\nHost: x\nKEY\nKEY\nConnection: close\n\n"),
    Wire(64, "NUL in the key", [400], "GET /v1/ping/ HTTP/1.1\nHost: x\nAuthorization: Token a\0b\n\n"),
    Wire(
        66,
        "two Idempotency-Keys",
        [400],
        f"{POST}Idempotency-Key: a\nIdempotency-Key: b\nConnection: close\nContent-Length: 30\n\n",
        JSON,
    ),
    Wire(96, "waits for 100 and never sends", [100, 408], f"{POST}Expect: 100-continue\nContent-Length: 30\n\n"),
    Wire(97, "HTTP/1.0", [200], "GET /v1/ping/ HTTP/1.0\nKEY\n\n"),
    Wire(
        97,
        "two at once",
        [200, 401],
        "GET /v1/ping/ HTTP/1.1\nHost: x\nKEY\n\nGET /v1/ping/ HTTP/1.1\nHost: x\nConnection: close\n\n",
    ),
    Wire(
        97,
        "upgrade to h2c",
        [200],
        "GET /v1/ping/ HTTP/1.1\nHost: x\nKEY\nConnection: Upgrade, HTTP2-Settings, close\n"
        "Upgrade: h2c\nHTTP2-Settings: AAMAAABkAAQAAP__\n\n",
    ),
]


def answered(port: int, sent: bytes, seconds: float = 10.0) -> list[int]:
    """The statuses that come back until the server closes the connection; it must, within `seconds`."""
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        connection.sendall(sent)
        while chunk := connection.recv(65_536):
            received += chunk
    return [int(status) for status in _STATUS.findall(received)]
