"""The port of authentication: who a key belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

SCOPES = ("read", "write", "admin")


@dataclass(frozen=True)
class Identity:
    """The project comes from the key alone; nothing in a request can change it."""

    project_id: UUID
    org_id: UUID
    key_id: UUID
    scopes: frozenset[str]

    def may(self, scope: str) -> bool:
        """`admin` includes `write`, `write` includes `read`."""
        return bool(self.scopes & frozenset(SCOPES[SCOPES.index(scope) :]))


class Authenticator(Protocol):
    def authenticate(self, key: str) -> Identity | None:
        """The key's identity; None when unknown or revoked. Raises MemlaneError("database_unavailable")."""
        ...

    def remembered(self, key: str) -> Identity | None:
        """The identity if it was looked up a moment ago, else None; never waits."""
        ...
