"""Entities of the scope: the users, agents, apps and runs that memories belong to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from core.domain.paging import Page


@dataclass(frozen=True)
class ScopeEntity:
    """`number` is the legacy numeric id; `total_memories` counts every row that carries the name."""

    number: int
    type: str  # user | agent | app | run
    name: str
    created_at: datetime
    updated_at: datetime
    total_memories: int = 0


@dataclass(frozen=True)
class EntityListing:
    page: Page[ScopeEntity]
    totals: Mapping[str, int]  # type → number of entities
