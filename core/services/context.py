"""Stage 1, Context: what the lane said before, and which memories its scopes hold that are near."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np

from core.domain.errors import MemlaneError
from core.domain.memory import Memory, MemoryState, ShownMemory, Turn
from core.domain.scope import Scope
from core.domain.work import EventWork
from core.ports.extraction import Instructions
from core.ports.models import Matrix
from core.services.runtime import Runtime

_QUERY_CHARACTERS = 1_500


@dataclass(frozen=True)
class Context:
    """What the later stages know of the past. `watermark` marks which rows it has seen."""

    earlier: list[Turn] = field(default_factory=list)
    near: list[Memory] = field(default_factory=list)
    watermark: int = 0
    instructions: Instructions = field(default_factory=Instructions)

    @property
    def shown(self) -> list[ShownMemory]:
        return [ShownMemory(m.id, m.memory, m.scope.key, m.created_at) for m in self.near]


def scopes_of(scope: Scope) -> list[Scope]:
    """The scopes that inferred memories of a request may be stored under: two at most."""
    return list({scope.attributed(side).key: scope.attributed(side) for side in ("user", "assistant")}.values())


def gather(runtime: Runtime, work: EventWork, turns: Sequence[Turn]) -> Context:
    """Read the lane's last messages, the project's instructions, and the nearest active memories.

    Raises ModelError (embedder), IndexUnavailable.
    """
    keys = [scope.key for scope in scopes_of(work.scope)]
    with runtime.database.transaction(work.project_id) as tx:
        rows = tx.memories.recent_messages(
            work.project_id, work.lane_key, work.position, runtime.limits.context_messages
        )
        watermark = tx.memories.watermark(work.project_id, keys)
        waiting = tx.memories.unprojected(work.project_id, keys) if watermark else []
        project = tx.projects.project(work.project_id)
    earlier = [Turn(n, row.role, row.content, row.said_at, row.name, row.position) for n, row in enumerate(rows)]
    near = _nearest(runtime, work, turns, waiting) if watermark else []
    return Context(earlier, near, watermark, instructions_of(project.settings if project else {}, work.payload))


def _nearest(runtime: Runtime, work: EventWork, turns: Sequence[Turn], waiting: Sequence[Memory]) -> list[Memory]:
    """The memories nearest to what is being said: index hits, and rows that are not in the index yet."""
    spoken = [turn for turn in turns if turn.role in ("user", "assistant")]
    said = "\n".join(turn.text for turn in spoken)[-_QUERY_CHARACTERS:]
    if not said.strip():
        return []
    vector = np.atleast_2d(runtime.models.embedder.embed_query(said))
    return nearest_memories(runtime, work, vector, waiting)[0]


def nearest_memories(
    runtime: Runtime, work: EventWork, vectors: Matrix, waiting: Sequence[Memory]
) -> list[list[Memory]]:
    """For each vector, up to `context_memories` active memories of the request's scopes, nearest first."""
    keys = [scope.key for scope in scopes_of(work.scope)]
    limit = runtime.limits.context_memories
    hits = runtime.index.nearest(runtime.collections.current().active, work.project_id, keys, vectors, limit)
    wanted = {hit.id for row in hits for hit in row}
    with runtime.database.transaction(work.project_id) as tx:
        rows = tx.memories.by_ids(work.project_id, sorted(wanted)) if wanted else []
    today = runtime.clock.now().date()
    pool = {m.id: m for m in [*rows, *waiting] if m.scope.key in keys and _usable(m, today, vectors)}
    return [_ranked(vector, list(pool.values()), limit) for vector in vectors]


def _usable(memory: Memory, today: date, vectors: Matrix) -> bool:
    """Active, embedded in the same space and not expired: an expired memory is as good as gone."""
    expired = memory.expiration_date is not None and memory.expiration_date < today
    comparable = memory.embedding is not None and len(memory.embedding) == 4 * vectors.shape[1]
    return memory.state is MemoryState.ACTIVE and comparable and not expired


def _ranked(vector: Matrix, memories: list[Memory], limit: int) -> list[Memory]:
    if not memories:
        return []
    stored = np.stack([np.frombuffer(memory.embedding or b"", dtype="<f4") for memory in memories])
    order = np.argsort(-(stored @ vector), kind="stable")[:limit]
    return [memories[n] for n in order]


def instructions_of(settings: dict[str, Any], payload: dict[str, Any]) -> Instructions:
    """The call's own instructions before the project's; `custom_categories` replace, they do not add."""
    custom = payload.get("custom_instructions") or settings.get("custom_instructions")
    agent = payload.get("agent_custom_instructions") or settings.get("agent_custom_instructions")
    listed = payload.get("custom_categories") or settings.get("custom_categories")
    return Instructions(custom, agent, payload.get("includes"), payload.get("excludes"), categories_of(listed))


def categories_of(listed: Any) -> dict[str, str]:
    """[{name: description}, …] or [name, …] as name → description; the default list when none is given."""
    if not listed:
        return dict(DEFAULT_CATEGORIES)
    pairs: dict[str, str] = {}
    for item in listed:
        pairs |= {item: ""} if isinstance(item, str) else {str(k): str(v) for k, v in item.items()}
    return pairs


DEFAULT_CATEGORIES = {
    "personal_details": "name, age, home, contact",
    "family": "relatives and partners",
    "professional_details": "job, employer, skills",
    "sports": "sports played or followed",
    "travel": "trips and places",
    "food": "food and drink",
    "music": "music heard or made",
    "health": "health, allergies, medicine",
    "technology": "devices and software",
    "hobbies": "pastimes",
    "fashion": "clothes and style",
    "entertainment": "films, books, games",
    "milestones": "achievements and life events",
    "user_preferences": "likes, dislikes, wishes",
    "misc": "anything else",
}


def refuse_too_long(runtime: Runtime, texts: Sequence[str]) -> None:
    """Raises MemlaneError("too_many_windows") for more conversation than one add may bring.

    A token is counted as four characters of Latin script or one of CJK, as a lower bound.
    """
    limit = runtime.limits.window_tokens * runtime.limits.max_windows
    if sum(map(len, texts)) <= limit:
        return
    tokens = sum(sum(1 if ord(c) > 0x2E80 else 0.25 for c in text) for text in texts)
    if tokens > limit:
        raise MemlaneError("too_many_windows")
