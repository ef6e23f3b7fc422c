"""Whether a part answers over HTTP; by the standard library, since the launcher should start at once."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit


def get(url: str, timeout: float = 2.0) -> tuple[int, str]:
    """(status, body); status 0 when nothing answered in time."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "127.0.0.1", parts.port or 80, timeout=timeout)
    try:
        connection.request("GET", f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}")
        answer = connection.getresponse()
        return answer.status, answer.read(65536).decode(errors="replace")
    except (OSError, http.client.HTTPException):
        return 0, ""
    finally:
        connection.close()


def answers(url: str) -> bool:
    """Whether anything at all answers there."""
    return get(url)[0] != 0


def missing(body: str) -> str:
    """The degraded parts that /readyz names, for a message; its whole body where that is not as expected."""
    try:
        found: Any = json.loads(body)
        degraded = found.get("degraded") or found.get("missing") or found
        return json.dumps(degraded)
    except (ValueError, AttributeError):
        return body.strip() or "no answer"
