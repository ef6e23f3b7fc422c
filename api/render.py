"""How things look on the wire: memory, history, entity and project objects, in this one place."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from core.domain.entities import ScopeEntity
from core.domain.history import HistoryEntry
from core.domain.hit import Hit
from core.domain.ids import project_wire_id
from core.domain.memory import Memory, MemoryState
from core.domain.project import Project
from core.domain.render import instant
from core.domain.retention import OF_PROJECTS

_LIFECYCLE = {MemoryState.SUPERSEDED: "superseded", MemoryState.MERGED: "merged"}


def memory_object(memory: Memory, fields: Collection[str] | None = None) -> dict[str, Any]:
    """The superset of what the endpoints document; `fields` keeps the named keys, and always `id`."""
    scope = memory.scope
    rendered: dict[str, Any] = {
        "id": str(memory.id),
        "memory": memory.memory,
        "user_id": scope.user_id,
        "agent_id": scope.agent_id,
        "app_id": scope.app_id,
        "run_id": scope.run_id,
        "session_id": scope.run_id,
        "metadata": memory.metadata,
        "categories": memory.categories,
        "created_at": instant(memory.created_at),
        "updated_at": instant(memory.updated_at),
        "expiration_date": memory.expiration_date.isoformat() if memory.expiration_date else None,
        "structured_attributes": structured_attributes(memory.created_at),
        "replaced_by": str(memory.replaced_by) if memory.replaced_by else None,
        "replaced_kind": memory.replaced_kind,
        "synthesized": memory.synthesized,
        "evidence": [str(id_) for id_ in memory.evidence],
        "lifecycle_state": _LIFECYCLE.get(memory.state, "active"),
        "immutable": memory.immutable,
        "hash": memory.hash,
        "version": memory.version,
        "attributed_to": memory.attributed_to,
        "actor_id": memory.actor_id,
        "role": memory.role,
        "event_date": memory.event_date.isoformat() if memory.event_date else None,
        "memory_type": memory.memory_type,
        "source_event_id": str(memory.source_event_id) if memory.source_event_id else None,
        "source_turns": list(memory.source_turns),
    }
    return rendered if fields is None else only(rendered, fields)


def hit_object(hit: Hit, fields: Collection[str] | None = None) -> dict[str, Any]:
    """A memory that a search found: with its score and what the score is made of."""
    rendered = memory_object(hit.memory)
    rendered["score"] = hit.score
    rendered["score_breakdown"] = dict(hit.breakdown)
    return rendered if fields is None else only(rendered, fields)


def only(rendered: dict[str, Any], fields: Collection[str]) -> dict[str, Any]:
    """The named keys that exist (clients of TypeScript name them in camelCase), and `id`."""
    wanted = {"id"} | {_snake(field) for field in fields}
    return {key: value for key, value in rendered.items() if key in wanted}


def _snake(name: str) -> str:
    return "".join(f"_{character.lower()}" if character.isupper() else character for character in name)


def structured_attributes(time: datetime) -> dict[str, Any]:
    """The calendar of an instant, in UTC."""
    utc = time.astimezone(UTC)
    return {
        "year": utc.year,
        "month": utc.month,
        "day": utc.day,
        "hour": utc.hour,
        "minute": utc.minute,
        "day_of_week": _DAYS[utc.weekday()],
        "week_of_year": utc.isocalendar().week,
        "day_of_year": utc.timetuple().tm_yday,
        "quarter": (utc.month - 1) // 3 + 1,
        "is_weekend": utc.weekday() >= 5,
    }


_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def history_object(entry: HistoryEntry) -> dict[str, Any]:
    """One entry of a memory's history."""
    scope = entry.scope
    return {
        "id": str(entry.id),
        "memory_id": str(entry.memory_id),
        "input": list(entry.input),
        "old_memory": entry.old_memory,
        "new_memory": entry.new_memory,
        "user_id": scope.user_id,
        "agent_id": scope.agent_id,
        "app_id": scope.app_id,
        "run_id": scope.run_id,
        "session_id": scope.run_id,
        "categories": entry.categories,
        "event": entry.event,
        "version": entry.version,
        "metadata": entry.metadata,
        "created_at": instant(entry.created_at),
        "updated_at": instant(entry.created_at),
    }


def entity_object(entity: ScopeEntity) -> dict[str, Any]:
    """A user, agent, app or run; the id is numeric but a string."""
    return {
        "id": str(entity.number),
        "name": entity.name,
        "type": entity.type,
        "created_at": instant(entity.created_at),
        "updated_at": instant(entity.updated_at),
        "owner": None,
        "metadata": None,
        "total_memories": entity.total_memories,
    }


def project_object(project: Project, *, strict_scoping: bool) -> dict[str, Any]:
    """Every key that the Mem0 Platform documents; null for what is not set or not a thing here."""
    kept = project.settings
    own_rule = kept.get("strict_scoping")
    return {
        "project_id": project_wire_id(project.id),
        "name": project.name,
        "description": project.description,
        "created_at": instant(project.created_at),
        "updated_at": instant(project.updated_at),
        "members": [],
        "usecase": kept.get("usecase_setting"),
        "usecase_setting": kept.get("usecase_setting"),
        "memory_depth": kept.get("memory_depth"),
        "inclusion_prompt": None,
        "exclusion_prompt": None,
        "custom_categories": kept.get("custom_categories"),
        "custom_instructions": kept.get("custom_instructions"),
        "agent_custom_instructions": kept.get("agent_custom_instructions"),
        "update_custom_instructions": None,
        "summary_custom_instructions": None,
        "summary_batch_size": None,
        "summary_max_tokens": None,
        "expiration_date": None,
        "enable_graph": bool(kept.get("enable_graph")),
        "multilingual": bool(kept.get("multilingual")),
        "version": kept.get("version") or "v3",
        "is_default": False,
        "active_prompt_profile": None,
        "decay": bool(kept.get("decay")),
        "synthesis": bool(kept.get("synthesis")),
        "rate_limit_per_minute": kept.get("rate_limit_per_minute"),
        "retention": {**OF_PROJECTS, **(kept.get("retention") or {})},
        "strict_scoping": strict_scoping if own_rule is None else own_rule,
        "user_role": "OWNER",
    }
