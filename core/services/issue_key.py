"""API keys: made, listed, revoked. A key is shown once; only its SHA-256 is stored."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from core.domain.ids import new_id
from core.domain.project import Project
from core.ports.database import Database, UniqueViolation
from core.ports.stores.projects import KeyIssuing, KeyRow

SCOPES = ("read", "write", "admin")
KEY_PREFIX = "ml-"
_SHOWN = 10  # characters of a key that may be shown later, to tell keys apart; never more than a third of it


@dataclass(frozen=True)
class IssuedKey:
    """`key` is the secret itself; it cannot be read again."""

    id: UUID
    project_id: UUID
    key: str


class UnknownProject(Exception):
    """No project has this id."""


def new_key() -> str:
    """256 random bits behind a prefix that secret scanners can look for."""
    return KEY_PREFIX + secrets.token_urlsafe(32)


def hash_key(key: str) -> bytes:
    """What api_keys.key_hash holds. A plain hash does: the key is too random to be guessed."""
    return hashlib.sha256(key.encode()).digest()


def issue_key(
    database: Database, name: str, *, project_id: UUID | None = None, scopes: Sequence[str] = SCOPES
) -> IssuedKey:
    """A new key of the given project, or of a new project called `name`.

    Raises UnknownProject, and ValueError for a scope that does not exist.
    """
    unknown = set(scopes) - set(SCOPES)
    if unknown or not scopes:
        raise ValueError(f"scopes are of {', '.join(SCOPES)}; not {', '.join(sorted(unknown)) or 'none'}")
    key = new_key()
    with database.operations() as transaction:
        store = transaction.projects
        if project_id is None:
            project_id = _add_project(store, name)
        elif project_id not in {project.id for project in store.projects()}:
            raise UnknownProject(str(project_id))
        key_id = _add_key(store, project_id, name, key, scopes)
    return IssuedKey(key_id, project_id, key)


def ensure_first_key(database: Database, key: str) -> bool:
    """Makes `key` a key of the first project, and that project where there is none. False if it was known before."""
    with database.operations() as transaction:
        if transaction.projects.lookup_key(hash_key(key)) is not None:
            return False
    try:
        with database.operations() as transaction:
            store = transaction.projects
            existing = store.projects()
            project_id = existing[0].id if existing else _add_project(store, "default")
            _add_key(store, project_id, "bootstrap", key, SCOPES)
    except UniqueViolation:  # another process was first, or the key is a revoked one
        return False
    return True


def list_keys(database: Database) -> Sequence[KeyRow]:
    """Oldest first, revoked ones too."""
    with database.operations() as transaction:
        return list(transaction.projects.keys())


def revoke_key(database: Database, prefix_or_id: str) -> int:
    """Revokes the one live key with this id or shown prefix; 0 or more than 1 matches change nothing.

    Returns the number of matches.
    """
    with database.operations() as transaction:
        store = transaction.projects
        rows = store.keys()
        found = [row for row in rows if row.revoked_at is None and prefix_or_id in (str(row.id), row.prefix)]
        if len(found) == 1:
            store.revoke_key(found[0].id)
        return len(found)


def _add_project(store: KeyIssuing, name: str) -> UUID:
    now = datetime.now(UTC)
    org_id = store.first_organization()
    if org_id is None:
        org_id = new_id()
        store.add_organization(org_id, "default", now)
    project = Project(id=new_id(), org_id=org_id, name=name, description=None, created_at=now, updated_at=now)
    store.add_project(project)
    return project.id


def _add_key(store: KeyIssuing, project_id: UUID, name: str, key: str, scopes: Sequence[str]) -> UUID:
    key_id = new_id()
    store.add_key(
        {
            "id": key_id,
            "project_id": project_id,
            "name": name,
            "prefix": key[: min(_SHOWN, len(key) // 3)],
            "key_hash": hash_key(key),
            "scopes": list(scopes),
            "created_at": datetime.now(UTC),
            "last_used_at": None,
            "revoked_at": None,
        }
    )
    return key_id
