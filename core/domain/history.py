"""History: one entry for each time a memory was added, updated or deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from core.domain.scope import Scope

CHANGES = ("ADD", "UPDATE", "DELETE")  # as the table's check constraint has them


@dataclass(frozen=True)
class HistoryEntry:
    """`input` are the messages that led to the change; scope, categories and metadata are those of the memory."""

    id: UUID
    memory_id: UUID
    version: int
    event: str  # ADD | UPDATE | DELETE
    old_memory: str | None
    new_memory: str | None
    input: Sequence[dict[str, Any]]
    scope: Scope
    categories: list[str] | None
    metadata: dict[str, Any] | None
    created_at: datetime
