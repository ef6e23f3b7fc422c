"""The tables of truth. The schema itself is made by deploy/migrations; a test holds both together."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import ARRAY, BigInteger, Column, DateTime, Identity, Integer, LargeBinary, MetaData, Text, Uuid
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

metadata = MetaData()


class Table(SQLModel):
    metadata: ClassVar[MetaData] = metadata


def _time(*, nullable: bool = False) -> Any:
    return Column(DateTime(timezone=True), nullable=nullable)


def _json(name: str | None = None, *, nullable: bool = True) -> Any:
    return Column(name, JSONB, nullable=nullable) if name else Column(JSONB, nullable=nullable)


class OrganizationRow(Table, table=True):
    __tablename__ = "organizations"
    id: UUID = Field(primary_key=True)
    name: str
    created_at: datetime = Field(sa_column=_time())


class ProjectRow(Table, table=True):
    """`settings` holds what PATCH project may set (custom_instructions, decay, strict_scoping, …)."""

    __tablename__ = "projects"
    id: UUID = Field(primary_key=True)
    org_id: UUID = Field(foreign_key="organizations.id")
    name: str
    description: str | None = None
    settings: dict[str, Any] = Field(sa_column=_json(nullable=False))
    created_at: datetime = Field(sa_column=_time())
    updated_at: datetime = Field(sa_column=_time())


class ApiKeyRow(Table, table=True):
    """`key_hash` is SHA-256 of the whole key; the key itself is shown once and never stored."""

    __tablename__ = "api_keys"
    id: UUID = Field(primary_key=True)
    project_id: UUID = Field(foreign_key="projects.id")
    name: str
    prefix: str
    key_hash: bytes = Field(sa_column=Column(LargeBinary, nullable=False, unique=True))
    scopes: list[str] = Field(sa_column=Column(ARRAY(Text), nullable=False))
    created_at: datetime = Field(sa_column=_time())
    last_used_at: datetime | None = Field(default=None, sa_column=_time(nullable=True))
    revoked_at: datetime | None = Field(default=None, sa_column=_time(nullable=True))


class LaneRow(Table, table=True):
    """Written by accept only: hands out the lane's sequence numbers."""

    __tablename__ = "lanes"
    project_id: UUID = Field(primary_key=True)
    lane_key: str = Field(primary_key=True)
    next_seq: int = Field(sa_column=Column(BigInteger, nullable=False))
    next_position: int = Field(sa_column=Column(BigInteger, nullable=False))
    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None


class LeaseRow(Table, table=True):
    """Written by workers only. `fence` comes from one global sequence and is never repeated."""

    __tablename__ = "leases"
    project_id: UUID = Field(primary_key=True)
    lane_key: str = Field(primary_key=True)
    owner: str
    fence: int = Field(sa_column=Column(BigInteger, nullable=False))
    taken_at: datetime = Field(sa_column=_time())
    expires_at: datetime = Field(sa_column=_time())


class EventRow(Table, table=True):
    """One accepted request. `state` is moved by the guarded functions of event_store.py alone."""

    __tablename__ = "events"
    id: UUID = Field(primary_key=True)
    project_id: UUID
    event_type: str
    state: str
    lane_key: str
    seq: int = Field(sa_column=Column(BigInteger, nullable=False))
    position: int = Field(sa_column=Column(BigInteger, nullable=False))
    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None
    payload: dict[str, Any] | None = Field(default=None, sa_column=_json())
    source: str | None = None
    due_at: datetime = Field(sa_column=_time())
    fence: int | None = Field(default=None, sa_column=Column(BigInteger))
    tries: int = 0
    crashes: int = 0
    error: dict[str, Any] | None = Field(default=None, sa_column=_json())
    results: list[Any] | None = Field(default=None, sa_column=_json())
    outcomes: list[Any] | None = Field(default=None, sa_column=_json())
    reason: str | None = None
    usage: dict[str, Any] | None = Field(default=None, sa_column=_json())
    requeued_at: datetime | None = Field(default=None, sa_column=_time(nullable=True))
    created_at: datetime = Field(sa_column=_time())
    updated_at: datetime = Field(sa_column=_time())
    started_at: datetime | None = Field(default=None, sa_column=_time(nullable=True))
    committed_at: datetime | None = Field(default=None, sa_column=_time(nullable=True))
    completed_at: datetime | None = Field(default=None, sa_column=_time(nullable=True))


class IdempotencyRow(Table, table=True):
    __tablename__ = "idempotency_keys"
    project_id: UUID = Field(primary_key=True)
    key: str = Field(primary_key=True)
    body_hash: str
    event_id: UUID
    created_at: datetime = Field(sa_column=_time())


class MessageRow(Table, table=True):
    """The last messages of a lane: context for later extraction, never a source of memories."""

    __tablename__ = "messages"
    id: UUID = Field(primary_key=True)
    project_id: UUID
    lane_key: str
    event_id: UUID
    position: int = Field(sa_column=Column(BigInteger, nullable=False))
    role: str
    name: str | None = None
    content: str
    said_at: datetime = Field(sa_column=_time())


class MemoryRow(Table, table=True):
    """Unique by (project_id, scope_key, hash) where state = 'active'."""

    __tablename__ = "memories"
    id: UUID = Field(primary_key=True)
    stored_seq: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), nullable=False))
    project_id: UUID
    scope_key: str
    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None
    memory: str
    hash: str
    state: str
    version: int = 1
    metadata_: dict[str, Any] = Field(sa_column=_json("metadata", nullable=False))
    categories: list[str] | None = Field(default=None, sa_column=Column(ARRAY(Text)))
    entities: list[Any] = Field(sa_column=_json(nullable=False))
    embedding: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    embedding_model: str | None = None
    event_date: date | None = None
    expiration_date: date | None = None
    immutable: bool = False
    attributed_to: str = "user"
    role: str = "user"
    actor_id: str | None = None
    source_event_id: UUID | None = None
    source_turns: list[int] = Field(sa_column=Column(ARRAY(Integer), nullable=False))
    lane_key: str = ""
    position: int = Field(default=0, sa_column=Column(BigInteger, nullable=False))
    said_at: datetime | None = Field(default=None, sa_column=_time(nullable=True))
    valid_from: datetime | None = Field(default=None, sa_column=_time(nullable=True))
    valid_to: datetime | None = Field(default=None, sa_column=_time(nullable=True))
    replaced_by: UUID | None = None
    replaced_kind: str | None = None
    memory_type: str | None = None
    synthesized: bool = False
    evidence: list[UUID] = Field(sa_column=Column(ARRAY(Uuid), nullable=False))
    created_at: datetime = Field(sa_column=_time())
    updated_at: datetime = Field(sa_column=_time())


class HistoryRow(Table, table=True):
    """One row per ADD, UPDATE, DELETE. `snapshot` is the memory's fields after the change (null when deleted)."""

    __tablename__ = "history"
    id: UUID = Field(primary_key=True)
    seq: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), nullable=False))
    project_id: UUID
    memory_id: UUID
    version: int
    event: str
    old_memory: str | None = None
    new_memory: str | None = None
    input: list[Any] | None = Field(default=None, sa_column=_json())
    snapshot: dict[str, Any] | None = Field(default=None, sa_column=_json())
    created_at: datetime = Field(sa_column=_time())


class ScopeEntityRow(Table, table=True):
    """A user, agent, app or run that an add named; known from the accept on, `id` is the legacy numeric id."""

    __tablename__ = "scope_entities"
    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), nullable=False, unique=True))
    project_id: UUID = Field(primary_key=True)
    type: str = Field(primary_key=True)
    name: str = Field(primary_key=True)
    created_at: datetime = Field(sa_column=_time())
    updated_at: datetime = Field(sa_column=_time())


class EntityRow(Table, table=True):
    """A thing that memories of one scope speak of, under its canonical key."""

    __tablename__ = "entities"
    project_id: UUID = Field(primary_key=True)
    scope_key: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    name: str
    type: str
    created_at: datetime = Field(sa_column=_time())


class EntityLinkRow(Table, table=True):
    __tablename__ = "entity_links"
    project_id: UUID = Field(primary_key=True)
    memory_id: UUID = Field(primary_key=True)
    key: str = Field(primary_key=True)
    scope_key: str


class RelationRow(Table, table=True):
    __tablename__ = "relations"
    project_id: UUID = Field(primary_key=True)
    memory_id: UUID = Field(primary_key=True)
    source: str = Field(primary_key=True)
    relation: str = Field(primary_key=True)
    target: str = Field(primary_key=True)


class ProjectionRow(Table, table=True):
    """A memory whose change has not reached the index yet; deleted by the projector alone."""

    __tablename__ = "projections"
    project_id: UUID = Field(primary_key=True)
    memory_id: UUID = Field(primary_key=True)
    requested_at: datetime = Field(sa_column=_time())
    attempts: int = 0


class TouchRow(Table, table=True):
    """The last times that a search returned a memory, newest first; only where the project's decay is on."""

    __tablename__ = "touches"
    project_id: UUID = Field(primary_key=True)
    memory_id: UUID = Field(primary_key=True)
    at: list[datetime] = Field(sa_column=Column(ARRAY(DateTime(timezone=True)), nullable=False))


class CollectionRow(Table, table=True):
    """The index's collections, at most one of each role; what they were embedded with; how far a rebuild is."""

    __tablename__ = "index_collections"
    name: str = Field(primary_key=True)
    role: str
    embedding_model: str
    dims: int
    staged: bool = False
    run: UUID | None = None
    moved_at: datetime | None = Field(default=None, sa_column=_time(nullable=True))
    position: UUID | None = None
    done: int = Field(default=0, sa_column=Column(BigInteger, nullable=False))
    created_at: datetime = Field(sa_column=_time())


class StagedEmbeddingRow(Table, table=True):
    __tablename__ = "staged_embeddings"
    memory_id: UUID = Field(primary_key=True)
    project_id: UUID
    hash: str
    embedding: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class HeartbeatRow(Table, table=True):
    __tablename__ = "heartbeats"
    process: str = Field(primary_key=True)
    kind: str
    info: dict[str, Any] = Field(sa_column=_json(nullable=False))
    started_at: datetime = Field(sa_column=_time())
    seen_at: datetime = Field(sa_column=_time())
