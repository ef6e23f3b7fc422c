"""Search as of an earlier time: which memories held then, and in which words.

Ranking is by today's vectors; what was deleted or erased since stays gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from uuid import UUID

from core.domain.filters import Cond, Node, all_of
from core.domain.hit import Hit
from core.domain.narrowing import Narrowing, select
from core.domain.recalled import Recalled
from core.ports.database import Database
from core.services.recall import Found


def select_then(filters: object, narrowing: Narrowing, moment: datetime, today: date) -> Node:
    """What `narrowing.select` selects, but by age instead of by state: a row may have lost its validity since."""
    every_state = replace(narrowing, show_expired=True, include_merged=True, latest_only=False)
    return all_of([select(filters, every_state, today), Cond("created_at", "lte", moment)])


def valid_then(found: Found, moment: datetime, *, show_expired: bool) -> Found:
    """The candidates that held at `moment`; what was superseded only later counts as current."""
    kept = {
        id_: replace(memory, superseded=False, replaced_by=None)
        for id_, memory in found.memories.items()
        if _held(memory, moment, show_expired)
    }
    return replace(found, memories=kept)


def _held(memory: Recalled, moment: datetime, show_expired: bool) -> bool:
    if memory.valid_to is not None and memory.valid_to <= moment:
        return False
    return show_expired or memory.expiration_date is None or memory.expiration_date >= moment.date()


def worded_then(database: Database, project_id: UUID, hits: Sequence[Hit], moment: datetime) -> list[Hit]:
    """The hits with the text they had at `moment`."""
    with database.transaction(project_id) as tx:
        texts: dict[UUID, str] = tx.history.texts_at(project_id, [hit.memory.id for hit in hits], moment)
    return [
        Hit(replace(hit.memory, memory=texts.get(hit.memory.id, hit.memory.memory)), hit.score, hit.breakdown)
        for hit in hits
    ]
