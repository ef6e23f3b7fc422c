"""Collections of the index, and building a new one beside the one that is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from core.domain.memory import Memory


@dataclass(frozen=True)
class IndexCollection:
    """A collection of ours in the index, and the embedder of its vectors.

    `role`: active | building | retiring, one of each at the most. `staged`: its vectors are the staged ones, not the
    memories' own. Of one that is being built: `run` works on it, `done` memories are copied, up to the id
    `position`, at `moved_at`.
    """

    name: str
    role: str
    embedding_model: str
    dims: int
    staged: bool = False
    run: UUID | None = None
    position: UUID | None = None
    done: int = 0
    moved_at: datetime | None = None


ByRole = Mapping[str, IndexCollection]


class HeldCollections(Protocol):
    """For transactions that write vectors or points."""

    def held(self) -> ByRole:
        """What there is, unchanged until this transaction ends; a switch waits for it."""
        ...

    def staged(self, project_id: UUID, memory_ids: Sequence[UUID]) -> dict[UUID, bytes]:
        """The staged vectors among these (little-endian float32) that are of the memory's present text."""
        ...


class RebuildSteps(Protocol):
    """The life of a collection: building → active → retiring → gone. As the operations role."""

    def hold_alone(self) -> ByRole:
        """What there is, for who is about to change it: nobody writes vectors or points until the transaction ends.
        Waits for those who do, a minute at the most: TransactionConflict then."""
        ...

    def begin(self, name: str, model: str, dims: int, *, staged: bool, run: UUID) -> None:
        """→ building. Raises UniqueViolation when a rebuild is under way already."""
        ...

    def take(self, run: UUID) -> None:
        """Take over the rebuild under way, if there is one; whoever had it before can no longer advance it."""
        ...

    def advance(self, run: UUID, position: UUID, rows: int) -> bool:
        """Note that `rows` more are copied, up to `position`; False when another has taken over."""
        ...

    def switch(self, *, staged: bool) -> None:
        """active → retiring and building → active; with `staged`, staged vectors become the memories' own."""
        ...

    def discard(self, role: str) -> None:
        """Forget the collection of this role; the index still has it."""
        ...


class StagedVectors(Protocol):
    """Vectors of the next embedder, made beside the memories' own; of all projects."""

    def unstaged(self, limit: int, ids: Sequence[UUID] | None = None) -> list[Memory]:
        """Memories that have none of their present text; of all, or among these."""
        ...

    def stage(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """`rows`: id, hash, embedding (little-endian float32). What has been purged meanwhile is left out."""
        ...

    def clear_staged(self) -> None: ...


class IndexedMemories(Protocol):
    """Memories that have a place in the index: neither deleted nor without a vector; of all projects."""

    def total(self) -> int: ...

    def batch(self, after: UUID | None, limit: int) -> list[tuple[UUID, UUID]]:
        """(project, memory) in order of the memory's id, those behind `after`."""
        ...

    def sample(self, limit: int) -> list[tuple[UUID, UUID]]:
        """(project, memory) of some, at random."""
        ...

    def known(self, ids: Sequence[UUID]) -> set[UUID]:
        """Those among these that have a place in the index."""
        ...

    def late(self, ids: Sequence[UUID]) -> set[UUID]:
        """Those among these whose projection is still waited for."""
        ...


class RebuildStore(HeldCollections, RebuildSteps, StagedVectors, IndexedMemories, Protocol):
    """All of it."""
