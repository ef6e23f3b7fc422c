"""Organisations, projects and API keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from core.domain.project import Project


@dataclass(frozen=True)
class KeyOwner:
    """Whose a live API key is, and what it may do (`scopes`: read | write | admin)."""

    key_id: UUID
    project_id: UUID
    org_id: UUID
    scopes: Sequence[str]


@dataclass(frozen=True)
class KeyRow:
    """A key as it may be shown: `project` is its project's name, `prefix` how the key begins."""

    id: UUID
    project_id: UUID
    project: str
    name: str
    prefix: str
    scopes: Sequence[str]
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


class KeyStore(Protocol):
    """Keys of all projects."""

    def lookup_key(self, key_hash: bytes) -> KeyOwner | None:
        """The live key with this SHA-256."""
        ...

    def touch_key(self, key_id: UUID) -> None:
        """Note that the key was used, at most once a minute."""
        ...

    def add_key(self, values: dict[str, Any]) -> None:
        """`values`: the fields of KeyRow without `project`, and `key_hash`. Raises UniqueViolation."""
        ...

    def keys(self) -> Sequence[KeyRow]:
        """Oldest first, revoked ones too."""
        ...

    def revoke_key(self, key_id: UUID) -> bool:
        """live → revoked; False when it was not live any more."""
        ...


class ProjectDetails(Protocol):
    """A project, and its settings."""

    def project(self, id_: UUID) -> Project | None: ...

    def update_project(
        self, id_: UUID, *, name: str | None, description: str | None, settings: dict[str, Any]
    ) -> None:
        """Change what is not None; `settings` is merged key by key."""
        ...


class ProjectCreation(Protocol):
    """New ones, and what is there already; of all projects."""

    def projects(self) -> list[Project]:
        """Oldest first."""
        ...

    def add_project(self, project: Project) -> None: ...

    def first_organization(self) -> UUID | None:
        """The oldest; None in a fresh database."""
        ...

    def add_organization(self, id_: UUID, name: str, now: datetime) -> None: ...


class KeyIssuing(KeyStore, ProjectCreation, Protocol):
    """What a key is issued with: nine methods, since a first key brings its project and organisation along."""


class ProjectStore(KeyIssuing, ProjectDetails, Protocol):
    """All of it."""
