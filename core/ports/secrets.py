"""The port of secrets at rest."""

from __future__ import annotations

from typing import Protocol


class SecretUnreadable(Exception):
    """The stored secret was sealed with another key."""


class SecretBox(Protocol):
    def seal(self, secret: str) -> bytes: ...

    def open(self, sealed: bytes) -> str:
        """Raises SecretUnreadable."""
        ...
