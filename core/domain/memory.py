"""Memories and what extraction proposes to become one."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from core.domain.scope import Scope


class MemoryState(StrEnum):
    """`active` rows are unique by (project, scope_key, hash); all other states never block a re-add."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    EXPIRED = "expired"
    DELETED = "deleted"


def expired(expiration_date: date | None, today: date) -> bool:
    """A memory is good through its day of expiration. After it, it is as good as gone, though it may still be called
    active until the sweep comes."""
    return expiration_date is not None and expiration_date < today


@dataclass(frozen=True)
class Entity:
    """A thing a memory speaks of. `key` is its canonical form: entities with one key are one thing."""

    name: str
    key: str
    type: str = "other"  # person | place | organization | product | event | concept | other


@dataclass(frozen=True)
class Relation:
    source: str
    relation: str
    target: str


@dataclass(frozen=True)
class Turn:
    """One message as the pipeline sees it: text parts joined, time resolved.

    `index` counts from 0 within the request; `position` counts within the lane.
    """

    index: int
    role: str  # user | assistant | system | tool | developer
    text: str
    said_at: datetime
    name: str | None = None
    position: int = 0


@dataclass(frozen=True)
class Supersede:
    index: int  # of a shown memory, as numbered to the model
    kind: str  # changed | corrected | temporary


@dataclass(frozen=True)
class Candidate:
    """A memory that is proposed, before grounding, deduplication and storage."""

    text: str
    attributed_to: str = "user"  # user | assistant: decides the scope, see Scope.attributed
    role: str = "user"
    actor_id: str | None = None
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    categories: tuple[str, ...] = ()
    event_date: date | None = None
    supersedes: tuple[Supersede, ...] = ()
    merges: tuple[int, ...] = ()
    linked: tuple[int, ...] = ()
    source_turns: tuple[int, ...] = ()
    memory_type: str | None = None


@dataclass(frozen=True)
class ShownMemory:
    """An existing memory, shown to extraction as a numbered line so that no id can be invented."""

    id: UUID
    text: str
    scope_key: str
    created_at: datetime


@dataclass
class Memory:
    """A stored memory, one row of `memories`; times are aware and in UTC."""

    id: UUID
    project_id: UUID
    scope: Scope
    memory: str
    hash: str
    state: MemoryState
    created_at: datetime
    updated_at: datetime
    version: int = 1
    metadata: dict[str, Any] = field(default_factory=dict)
    categories: list[str] | None = None
    entities: list[Entity] = field(default_factory=list)
    event_date: date | None = None
    expiration_date: date | None = None
    immutable: bool = False
    attributed_to: str = "user"
    role: str = "user"
    actor_id: str | None = None
    source_event_id: UUID | None = None
    source_turns: list[int] = field(default_factory=list)
    lane_key: str = ""
    position: int = 0
    said_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    replaced_by: UUID | None = None
    replaced_kind: str | None = None
    memory_type: str | None = None
    synthesized: bool = False
    evidence: list[UUID] = field(default_factory=list)  # of a synthesized one: the memories that show the pattern
    embedding: bytes | None = None  # little-endian float32
