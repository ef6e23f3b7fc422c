"""A project: what API keys belong to, and the wall between tenants."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True)
class Project:
    """`settings` override the server's defaults for this project."""

    id: UUID
    org_id: UUID
    name: str
    description: str | None
    created_at: datetime
    updated_at: datetime
    settings: dict[str, Any] = field(default_factory=dict)
