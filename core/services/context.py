"""Stage 1, Context: what the lane said before, and which memories its scopes hold that are near."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.domain.errors import MemlaneError
from core.domain.memory import Memory, ShownMemory, Turn
from core.domain.work import EventWork
from core.ports.extraction import Instructions
from core.services.near import Surroundings, survey
from core.services.runtime import Runtime

_QUERY_CHARACTERS = 1_500


@dataclass(frozen=True)
class Context:
    """What the later stages know of the past. `near`: the memories nearest to what is being said; `surroundings`: all
    that these are among, None where nobody looked (`infer=false`)."""

    earlier: list[Turn] = field(default_factory=list)
    near: list[Memory] = field(default_factory=list)
    surroundings: Surroundings | None = None
    instructions: Instructions = field(default_factory=Instructions)

    @property
    def shown(self) -> list[ShownMemory]:
        return [ShownMemory(m.id, m.memory, m.scope.key, m.created_at) for m in self.near]


def gather(runtime: Runtime, work: EventWork, turns: Sequence[Turn]) -> Context:
    """Read the lane's last messages and the nearest active memories; the project's settings came with the event.

    Raises ModelError (embedder), IndexUnavailable, DatabaseUnavailable.
    """
    with runtime.database.statements(work.project_id) as tx:
        rows = tx.memories.recent_messages(
            work.project_id, work.lane_key, work.position, runtime.limits.context_messages
        )
        around = survey(runtime, tx, work)
    earlier = [Turn(n, row.role, row.content, row.said_at, row.name, row.position) for n, row in enumerate(rows)]
    near = _nearest(runtime, work, turns, around) if around.marks else []
    return Context(earlier, near, around, instructions_of(work.settings, work.payload))


def _nearest(runtime: Runtime, work: EventWork, turns: Sequence[Turn], around: Surroundings) -> list[Memory]:
    spoken = [turn for turn in turns if turn.role in ("user", "assistant")]
    said = "\n".join(turn.text for turn in spoken)[-_QUERY_CHARACTERS:]
    if not said.strip():
        return []
    vector = np.atleast_2d(runtime.models.embedder.embed_query(said))
    return around.nearest(vector, runtime.limits.context_memories)[0]


def instructions_of(settings: Mapping[str, Any], payload: dict[str, Any]) -> Instructions:
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
