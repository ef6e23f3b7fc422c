"""Identifiers. All ids are made in Python, so that a row's id is known before it is written."""

from __future__ import annotations

import os
import time
from uuid import UUID

PROJECT_PREFIX = "proj_"


def new_id() -> UUID:
    """A UUID version 7 (RFC 9562 §5.7): 48 bits of Unix milliseconds, then random bits; sorts by age."""
    millis = time.time_ns() // 1_000_000
    raw = bytearray(millis.to_bytes(6, "big") + os.urandom(10))
    raw[6] = (raw[6] & 0x0F) | 0x70
    raw[8] = (raw[8] & 0x3F) | 0x80
    return UUID(bytes=bytes(raw))


def parse_id(written: str) -> UUID | None:
    """A UUID in its usual 36 characters; None for every other spelling (braces, URN, bare digits) and for no UUID."""
    try:
        parsed = UUID(written)
    except ValueError:
        return None
    return parsed if str(parsed) == written.lower() else None


def organization_wire_id(id_: UUID) -> str:
    """The opaque string clients see for an organisation."""
    return f"org_{id_.hex}"


def project_wire_id(id_: UUID) -> str:
    """The opaque string clients see for a project."""
    return PROJECT_PREFIX + id_.hex
