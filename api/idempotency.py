"""The Idempotency-Key header."""

from __future__ import annotations

import re

from starlette.requests import Request

from core.domain.errors import MemlaneError

_KEY = re.compile(r"[!-~]{1,255}")


def idempotency_key(request: Request) -> str | None:
    """Raises MemlaneError("idempotency_key_invalid") unless there is none, or one of visible ASCII."""
    given = request.headers.getlist("idempotency-key")
    if not given:
        return None
    if len(given) > 1 or not _KEY.fullmatch(given[0]):
        raise MemlaneError("idempotency_key_invalid")
    return given[0]
