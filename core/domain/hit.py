"""One search result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.domain.memory import Memory


@dataclass(frozen=True)
class Hit:
    """`score` in (0, 1], the sum of `breakdown` {semantic, bm25, entity, temporal}."""

    memory: Memory
    score: float
    breakdown: Mapping[str, float]
