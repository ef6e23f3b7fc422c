"""A project's settings: read whole, changed key by key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from core.domain.errors import MemlaneError
from core.domain.project import Project
from core.ports.database import Database


@dataclass(frozen=True)
class ProjectChange:
    """None keeps; `settings` holds only the keys to change, null among their values."""

    name: str | None = None
    description: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


def read_project(database: Database, project_id: UUID) -> Project:
    """Raises MemlaneError("project_not_found")."""
    with database.transaction(project_id) as tx:
        project: Project | None = tx.projects.project(project_id)
    if project is None:
        raise MemlaneError("project_not_found")
    return project


def change_project(database: Database, project_id: UUID, change: ProjectChange) -> None:
    """In force for every request and event that is begun after this returns."""
    with database.transaction(project_id) as tx:
        tx.projects.update_project(
            project_id, name=change.name, description=change.description, settings=dict(change.settings)
        )
