"""Decay of a project whose `decay` is on: reorder the hits by use, and note which were used now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from core.domain.decay import decay_factor
from core.domain.ranking import Ranked
from core.ports.database import Database
from core.services.recall import Found
from core.services.runtime import Runtime
from core.services.side_notes import side_note


def faded(
    database: Database, project_id: UUID, ranked: Sequence[Ranked], found: Found, now: datetime
) -> list[Ranked]:
    """The same hits, each score times its factor and at most 1, best first."""
    with database.statements(project_id) as tx:
        touches = tx.touches.of(project_id, [hit.id for hit in ranked])
    kept = []
    for hit in ranked:
        factor = decay_factor(now, found.memories[hit.id].said_at, touches.get(hit.id, ()))
        kept.append(hit.scaled(min(factor, 1 / hit.score)))
    return sorted(kept, key=lambda hit: (-hit.score, hit.id))


def touch(runtime: Runtime, project_id: UUID, ids: Sequence[UUID], now: datetime) -> None:
    """Note the use."""
    with side_note(runtime.telemetry, "decay"), runtime.database.transaction(project_id) as tx:
        tx.touches.touch(project_id, ids, now)
