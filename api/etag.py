"""ETag and If-Match: a memory's version as an entity tag (RFC 9110 §13.1.1)."""

from __future__ import annotations

import re

from core.domain.errors import MemlaneError
from core.domain.memory import Memory

_TAG = re.compile(r'(?:W/)?"(\d{1,9})"')


def etag(memory: Memory) -> dict[str, str]:
    return {"ETag": f'"{memory.version}"'}


def expected_version(if_match: str | None) -> int | None:
    """The version named by If-Match; None without one and for `*`.

    Raises MemlaneError("validation_failed") for anything but one tag of this server's form.
    """
    if if_match is None or if_match.strip() == "*":
        return None
    found = _TAG.fullmatch(if_match.strip())
    if found is None:
        raise MemlaneError("validation_failed", 'If-Match must be one ETag, as in "3".', pointer="If-Match")
    return int(found[1])
