"""The one guarded fetcher: resolve once, check every answer, connect to the address that was checked."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from urllib.parse import SplitResult

import httpx

from core.adapters.deadline import DeadlineLoop
from core.domain.addresses import Allow, NotAllowed, address_allowed, checked_url
from core.ports.fetch import Answer, FetchFailed, Outgoing

Resolver = Callable[[str, int], Awaitable[list[str]]]
_RESOLVE_SECONDS = 2.0
_CONNECT_SECONDS = 5.0


async def resolve(host: str, port: int) -> list[str]:
    """Every address that the system's resolver gives for a host."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


class GuardedFetcher:
    """Implements Fetcher. A fresh connection for each request: none is shared between hosts or callers.

    `resolver` is a parameter so that a test can let a name change its address between two look-ups.
    """

    def __init__(self, resolver: Resolver = resolve) -> None:
        self._resolve = resolver
        self._calls = DeadlineLoop()
        self._tls = ssl.create_default_context()

    def fetch(self, outgoing: Outgoing, allow: Allow) -> Answer:
        parts = checked_url(outgoing.url, allow)
        try:
            return self._calls.run(self._fetch(outgoing, parts, allow), outgoing.deadline)
        except TimeoutError as error:
            raise FetchFailed("no complete answer in time") from error
        except (httpx.HTTPError, ssl.SSLError, OSError) as error:
            raise FetchFailed(_kind(error)) from error

    async def _fetch(self, outgoing: Outgoing, parts: SplitResult, allow: Allow) -> Answer:
        host = (parts.hostname or "").rstrip(".")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        address = await self._pinned(host, port, allow)
        async with httpx.AsyncClient(
            verify=self._tls, trust_env=False, follow_redirects=False, timeout=_timeout(outgoing.deadline)
        ) as client:
            request = client.build_request(
                outgoing.method,
                httpx.URL(outgoing.url).copy_with(host=address),
                content=outgoing.body,
                headers={**outgoing.headers, "host": parts.netloc, "accept-encoding": "identity"},
                extensions={"sni_hostname": host, "timeout": _timeout(outgoing.deadline).as_dict()},
            )
            response = await client.send(request, stream=True)
            try:
                return await _read(response, outgoing.most)
            finally:
                await response.aclose()

    async def _pinned(self, host: str, port: int, allow: Allow) -> str:
        """One address to connect to. Every answer must be allowed: a mixed answer is refused."""
        try:
            async with asyncio.timeout(_RESOLVE_SECONDS):
                addresses = await self._resolve(host, port)
        except (TimeoutError, OSError, UnicodeError) as error:
            raise FetchFailed("the host name could not be resolved") from error
        if not addresses or not all(address_allowed(address, allow) for address in addresses):
            raise NotAllowed
        return addresses[0]


def _timeout(deadline: float) -> httpx.Timeout:
    return httpx.Timeout(deadline, connect=min(_CONNECT_SECONDS, deadline))


async def _read(response: httpx.Response, most: int) -> Answer:
    """The body as a stream, cut at `most` bytes; raw, so that a compressed bomb stays compressed."""
    chunks, size = [], 0
    async for chunk in response.aiter_raw():
        chunks.append(chunk)
        size += len(chunk)
        if size >= most:
            break
    body = b"".join(chunks)
    return Answer(response.status_code, dict(response.headers), body[:most], size > most)


def _kind(error: Exception) -> str:
    """What went wrong, without an address or any text of the other side."""
    if isinstance(error, httpx.ConnectTimeout | httpx.ReadTimeout | httpx.WriteTimeout):
        return "no complete answer in time"
    if isinstance(error, ssl.SSLError) or "SSL" in type(error).__name__ or "CERTIFICATE" in str(error):
        return "the TLS handshake failed"
    if isinstance(error, httpx.ConnectError):
        return "the connection was refused"
    return "the connection broke"
