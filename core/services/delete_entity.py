"""Delete an entity: a user, agent, app or run with every memory that carries it."""

from __future__ import annotations

from uuid import UUID

from core.domain.scope import ENTITY_TYPES
from core.domain.selection import Selection
from core.services.delete_all import DELETE_USER, Deletion, Started, delete_all
from core.services.list_entities import read_entity
from core.services.runtime import Runtime


def delete_entity(runtime: Runtime, project_id: UUID, type_: str, name: str, source: str | None = None) -> Started:
    """A once-known entity may be deleted again, also when it has no memories left.

    Raises MemlaneError: `entity_type_invalid`, `entity_not_found`.
    """
    entity = read_entity(runtime.database, project_id, type_, name)
    selection = Selection({ENTITY_TYPES[entity.type]: entity.name})
    return delete_all(runtime, Deletion(project_id, selection, DELETE_USER, source))
