"""Operations: processes that are alive, collections of the index, the schema, how much waits; of all projects."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from core.ports.stores.collections import ByRole


@dataclass(frozen=True)
class Heartbeat:
    """A worker process; `kind` is its queue, `info` what doctor shows of it."""

    process: str
    kind: str
    info: dict[str, Any]
    started_at: datetime
    seen_at: datetime


@dataclass(frozen=True)
class Backlog:
    """`open`: due events of all projects; `oldest`: how many seconds the oldest is due, None when none is."""

    open: int
    oldest: float | None


class Heartbeats(Protocol):
    """Who is there."""

    def beat(self, process: str, kind: str, info: dict[str, Any]) -> None:
        """Note that a worker process is alive."""
        ...

    def alive(self, seconds: float) -> list[Heartbeat]:
        """Those seen within so many seconds, by name."""
        ...

    def forget(self, process: str) -> None:
        """It has ended in order."""
        ...


class Registry(Protocol):
    """What the database is made for."""

    def collections(self) -> ByRole:
        """Collections of the index as they are at this moment; `RebuildStore.held` keeps them so."""
        ...

    def add_collection(self, name: str, role: str, model: str, dims: int) -> None:
        """Register one, unless there is one of this role or name already."""
        ...

    def revision(self) -> str:
        """The migration that the database is at."""
        ...

    def is_current(self) -> bool:
        """True when the schema is as new as this code needs, or newer (a rolling update)."""
        ...


class EventCounts(Protocol):
    """How much waits, and how fast it goes."""

    def open_events(self, project_id: UUID, limit: int) -> int:
        """Open events of a project, counted up to `limit`."""
        ...

    def ended_events(self, project_id: UUID, seconds: float) -> int:
        """Events of a project that ended within the last `seconds`."""
        ...

    def backlog(self) -> Backlog: ...


class OpsStore(Heartbeats, Registry, EventCounts, Protocol):
    """All of it."""
