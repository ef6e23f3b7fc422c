"""A project's settings: read whole, changed key by key."""

from __future__ import annotations

import threading
import time
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


REMEMBERED_SECONDS = 1.0
MAX_REMEMBERED = 10_000


class ProjectSettings:
    """What search needs of the settings on each call, at most a second old, as API keys are.

    A change made through this process is in force at once, one made through another within that second.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[UUID, tuple[float, Mapping[str, Any]]] = {}
        self._changes = 0  # what was read before a change is not kept after it

    def settings(self, database: Database, project_id: UUID) -> Mapping[str, Any]:
        """{} for a project that is gone. Raises DatabaseUnavailable."""
        known, began, changes = self._known.get(project_id), time.monotonic(), self._changes
        if known is not None and began - known[0] < REMEMBERED_SECONDS:
            return known[1]
        with database.statements(project_id) as tx:
            project = tx.projects.project(project_id)
        settings = project.settings if project else {}
        with self._lock:
            if len(self._known) >= MAX_REMEMBERED:
                self._known.clear()
            if changes == self._changes:
                self._known[project_id] = (began, settings)
        return settings

    def forget(self, project_id: UUID) -> None:
        with self._lock:
            self._changes += 1
            self._known.pop(project_id, None)


def read_project(database: Database, project_id: UUID) -> Project:
    """Raises MemlaneError("project_not_found")."""
    with database.statements(project_id) as tx:
        project = tx.projects.project(project_id)
    if project is None:
        raise MemlaneError("project_not_found")
    return project


def change_project(database: Database, remembered: ProjectSettings, project_id: UUID, change: ProjectChange) -> None:
    """In force for every request to this process and every event that is begun after this returns."""
    with database.transaction(project_id) as tx:
        tx.projects.update_project(
            project_id, name=change.name, description=change.description, settings=dict(change.settings)
        )
    remembered.forget(project_id)
