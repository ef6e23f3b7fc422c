"""The port to the outside web: webhooks and message parts go through one guarded fetcher."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from core.domain.addresses import Allow


class FetchFailed(Exception):
    """No answer: not resolved, refused, reset, TLS, too slow. The text names the kind, never an address."""


@dataclass(frozen=True)
class Outgoing:
    """One request. `deadline` in seconds bounds it as a whole; `most` bytes of the answer are read at most."""

    method: str
    url: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    deadline: float = 15.0
    most: int = 16 * 1024


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes
    truncated: bool = False


class Fetcher(Protocol):
    """No redirects, no proxies, no cookies. Raises NotAllowed (before anything is sent), FetchFailed."""

    def fetch(self, outgoing: Outgoing, allow: Allow) -> Answer: ...
