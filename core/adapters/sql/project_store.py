"""Organisations, projects and API keys."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Connection, insert, text

from core.adapters.sql.tables import ApiKeyRow, OrganizationRow, ProjectRow
from core.domain.project import Project
from core.ports.stores.projects import KeyOwner, KeyRow

_LOOKUP = text("SELECT key_id, project_id, org_id, scopes FROM memlane_lookup_key(:hash)")
_TOUCH = text("""
UPDATE api_keys SET last_used_at = now()
WHERE id = :id AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')
""")
_REVOKE = text("UPDATE api_keys SET revoked_at = now() WHERE id = :id AND revoked_at IS NULL")
_KEYS = text("""
SELECT k.id, k.project_id, p.name AS project, k.name, k.prefix, k.scopes, k.created_at, k.last_used_at, k.revoked_at
FROM api_keys k JOIN projects p ON p.id = k.project_id ORDER BY k.created_at
""")
_PROJECT = text("SELECT id, org_id, name, description, settings, created_at, updated_at FROM projects WHERE id = :id")
_PROJECTS = text(
    "SELECT id, org_id, name, description, settings, created_at, updated_at FROM projects ORDER BY created_at"
)
_FIRST_ORG = text("SELECT id FROM organizations ORDER BY created_at LIMIT 1")
_UPDATE = text("""
UPDATE projects SET name = coalesce(:name, name), description = coalesce(:description, description),
  settings = settings || CAST(:settings AS jsonb), updated_at = now() WHERE id = :id
""")


class SqlProjectStore:
    """Key lookup and project settings; what creates or revokes runs as the operations role."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def lookup_key(self, key_hash: bytes) -> KeyOwner | None:
        """The live key with this SHA-256."""
        row = self._connection.execute(_LOOKUP, {"hash": key_hash}).mappings().first()
        return KeyOwner(**row) if row else None

    def touch_key(self, key_id: UUID) -> None:
        """Note that the key was used, at most once a minute."""
        self._connection.execute(_TOUCH, {"id": key_id})

    def add_organization(self, id_: UUID, name: str, now: datetime) -> None:
        self._connection.execute(insert(OrganizationRow).values(id=id_, name=name, created_at=now))

    def first_organization(self) -> UUID | None:
        return self._connection.execute(_FIRST_ORG).scalar_one_or_none()

    def add_project(self, project: Project) -> None:
        self._connection.execute(insert(ProjectRow).values(**vars(project)))

    def project(self, id_: UUID) -> Project | None:
        row = self._connection.execute(_PROJECT, {"id": id_}).mappings().first()
        return Project(**row) if row else None

    def projects(self) -> list[Project]:
        return [Project(**row) for row in self._connection.execute(_PROJECTS).mappings()]

    def update_project(
        self, id_: UUID, *, name: str | None, description: str | None, settings: dict[str, Any]
    ) -> None:
        """Change what is given; `settings` is merged key by key."""
        params = {"id": id_, "name": name, "description": description, "settings": orjson.dumps(settings).decode()}
        self._connection.execute(_UPDATE, params)

    def add_key(self, values: dict[str, Any]) -> None:
        """`values`: the columns of api_keys."""
        self._connection.execute(insert(ApiKeyRow).values(**values))

    def keys(self) -> Sequence[KeyRow]:
        return [KeyRow(**row) for row in self._connection.execute(_KEYS).mappings()]

    def revoke_key(self, key_id: UUID) -> bool:
        return self._connection.execute(_REVOKE, {"id": key_id}).rowcount == 1
