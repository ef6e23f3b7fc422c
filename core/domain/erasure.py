"""Erasures: what is asked for, and the receipt of what was removed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

DELETE_USER = "DELETE_USER"  # the type of the event that does an erasure's work


@dataclass(frozen=True)
class Erasure:
    """`name` and `type` are None once it is done; `receipt` counts what was removed, by kind."""

    id: UUID
    project_id: UUID
    digest: bytes
    type: str | None
    name: str | None
    keep_derived: bool
    event_id: UUID
    created_at: datetime
    receipt: dict[str, int] = field(default_factory=dict)
    done_at: datetime | None = None


def digest_of(type_: str, name: str) -> bytes:
    """SHA-256 of the length-prefixed type and name: enough to recognise a second request, not to read the first."""
    raw = name.encode()
    return hashlib.sha256(b"%s:%d:" % (type_.encode(), len(raw)) + raw).digest()
