"""The port of the vector index: a projection of the memories table, never the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from core.domain.filters import Node
from core.ports.models import Matrix


class IndexUnavailable(Exception):
    """The index did not answer in time, or refused; nothing is known about what was applied."""

    code = "index_unavailable"  # of the error catalogue


class EmbedderConflict(IndexUnavailable):
    """The configured embedder is not the one that the stored vectors were made with: no use of them until one of
    the two has changed."""

    code = "embedder_conflict"


@dataclass(frozen=True)
class SparseVector:
    """Parallel lists; `indices` are unsigned 32-bit, unique, in any order."""

    indices: list[int]
    values: list[float]


@dataclass(frozen=True)
class IndexPoint:
    """One memory in the index. `payload` holds keys and times, no text (see services/project.py)."""

    id: UUID
    dense: Sequence[float]
    bm25: SparseVector
    entity: SparseVector
    payload: Mapping[str, Any]
    bm25_ctx: SparseVector | None = None


@dataclass(frozen=True)
class IndexQuery:
    """One search: up to four candidate lists, each of `limit`, each under the same filter.

    `where` is the caller's filter AST with the scope rule already applied, and `ids` are the leaves
    that only PostgreSQL can answer, resolved: leaf → ids that satisfy it. A vector that is None is not asked.
    """

    project_id: UUID
    where: Node
    limit: int
    dense: Matrix | None = None
    bm25: SparseVector | None = None
    bm25_ctx: SparseVector | None = None
    entity: SparseVector | None = None
    ids: Mapping[Node, Sequence[UUID]] | None = None


class IndexHit(NamedTuple):
    id: UUID
    score: float


IndexLists = dict[str, list[IndexHit]]  # "dense" | "bm25" | "bm25_ctx" | "entity" → hits, best first


class VectorIndex(Protocol):
    """All methods raise IndexUnavailable. Writes return when they are searchable (`wait=true`)."""

    def version(self) -> str:
        """What the index says it is; the cheapest proof that it answers."""
        ...

    def exists(self, collection: str) -> bool: ...

    def ensure(self, collection: str, dims: int) -> None:
        """Create the collection and its payload indexes where they are missing."""
        ...

    def upsert(self, collections: Sequence[str], points: Sequence[IndexPoint]) -> None: ...

    def delete(self, collections: Sequence[str], ids: Sequence[UUID]) -> None: ...

    def query(self, collection: str, query: IndexQuery) -> IndexLists:
        """All lists of one search in one round trip."""
        ...

    def nearest(
        self, collection: str, project_id: UUID, scope_keys: Sequence[str], vectors: Matrix, limit: int
    ) -> list[list[IndexHit]]:
        """For each row of `vectors` (n × dims) the active points of these scopes by cosine, in one round trip."""
        ...

    def scroll(self, collection: str, project_id: UUID | None = None) -> Iterator[tuple[UUID, dict[str, Any]]]:
        """Every point's id and payload, in pages; of one project or of all."""
        ...

    def fetch(self, collection: str, ids: Sequence[UUID]) -> dict[UUID, IndexPoint]:
        """Whole points by id, vectors too; ids without a point are left out."""
        ...

    def names(self) -> list[str]:
        """Every collection there is, other programs' too."""
        ...

    def drop(self, collection: str) -> None: ...
