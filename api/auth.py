"""From the Authorization header to an identity. Keys in a query string are never read."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Security
from fastapi.security import APIKeyHeader
from starlette.requests import Request

from core.domain.errors import MemlaneError
from core.ports.identity import Identity

MAX_KEY = 512
SCHEMES = ("token", "bearer")

_header = APIKeyHeader(
    name="Authorization",
    scheme_name="ApiKey",
    description="`Token <key>`; `Bearer <key>` is accepted too.",
    auto_error=False,
)


def key_of(headers: Any) -> str:
    """The API key of a request. Raises MemlaneError("unauthenticated") for anything but one well-formed header."""
    given = headers.getlist("authorization")
    if len(given) != 1:
        raise MemlaneError("unauthenticated")
    scheme, _, key = given[0].partition(" ")
    key = key.strip()
    if scheme.lower() not in SCHEMES or not 0 < len(key) <= MAX_KEY or not (key.isascii() and key.isprintable()):
        raise MemlaneError("unauthenticated")
    if " " in key:
        raise MemlaneError("unauthenticated")
    return str(key)


async def _identity(request: Request, _documented: str | None = Security(_header)) -> Identity:
    """What the route class found before it read the body. `async`: it is not worth a thread."""
    identity: Identity = request.state.identity
    return identity


def _requiring(scope: str) -> Any:
    async def check(identity: Annotated[Identity, Depends(_identity)]) -> Identity:
        if not identity.may(scope):
            raise MemlaneError("forbidden", f"This API key lacks the scope '{scope}'.")
        return identity

    return check


Reader = Annotated[Identity, Depends(_requiring("read"))]
Writer = Annotated[Identity, Depends(_requiring("write"))]
Admin = Annotated[Identity, Depends(_requiring("admin"))]
