"""Lanes and the leases on them: who works on which conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True)
class LaneRef:
    """A lane of a project; `fence` proves a worker's lease on it (None: none held)."""

    project_id: UUID
    lane_key: str
    fence: int | None = None


@dataclass(frozen=True)
class DueEvent:
    """An open event of a held lane, to be worked on now; `crashes` = workers lost with it so far."""

    id: UUID
    state: str
    crashes: int = 0


class LaneClaims(Protocol):
    """What a worker does with lanes; of all projects."""

    def take(self, owner: str, lease_seconds: float) -> LaneRef | None:
        """Take or take over the lease of the due lane of the least-served project; None when nothing is due.

        To be called under `Database.autocommit`: its locks end with it.
        """
        ...

    def due(self, lane: LaneRef, limit: int) -> list[DueEvent]:
        """The lane's open events in sequence, up to the first that is not due yet."""
        ...

    def renew(self, owner: str, fences: list[int], lease_seconds: float) -> set[int]:
        """Prolong leases, to end `lease_seconds` from now; the fences that are still held."""
        ...

    def release(self, lane: LaneRef) -> bool:
        """Free the lease if no event of the lane is due; False: there is more to do.

        To be called under `Database.autocommit`: an accept waits for it, and is seen by it.
        """
        ...

    def let_go(self, lane: LaneRef) -> bool:
        """Free the lease whatever is due: whoever calls it wakes another worker. False: it was not held."""
        ...


class LaneChecks(Protocol):
    """What a transaction asks before it relies on a lane, or on being alone."""

    def holds(self, lane: LaneRef) -> bool:
        """Whether the lane's fence is the one in force; if so, a takeover waits until this transaction ends."""
        ...

    def is_free(self, lane: LaneRef) -> bool:
        """True when nobody holds a live lease: the caller should wake a worker after its commit."""
        ...

    def lead(self, key: int) -> bool:
        """True in one transaction at a time for each `key`; False in the others, at once."""
        ...


class LaneStore(LaneClaims, LaneChecks, Protocol):
    """All of it."""
