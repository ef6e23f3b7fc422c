"""A small scope read whole from PostgreSQL, vectors included: once the query is embedded, nothing is left to ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import numpy.typing as npt

from core.domain.filters import Node
from core.domain.recalled import Recalled
from core.ports.models import Matrix
from core.services.runtime import Runtime


@dataclass(frozen=True)
class WholeScope:
    """`directions`: the memories' vectors in their order, of length 1, float64 of shape (memories, dims)."""

    memories: Mapping[UUID, Recalled]
    directions: npt.NDArray[np.float64]

    def cosines(self, vector: Matrix) -> dict[UUID, float]:
        """Each memory's cosine to `vector`, shape (dims,), as exact as float32 holds it: so it depends neither on
        the order of the memories nor on how many there are."""
        asked = _of_length_1(vector.astype(np.float64))
        cosines = (self.directions @ asked).astype(np.float32)
        return dict(zip(self.memories, cosines.tolist(), strict=True))


def read_whole(runtime: Runtime, project_id: UUID, where: Node, most: int) -> WholeScope | None:
    """What the filter selects now; None unless it pins one scope, which holds `most` memories at most and something
    that fits. Raises DatabaseUnavailable."""
    embedder = runtime.models.embedder
    with runtime.database.transaction(project_id) as tx:
        read = tx.search_reads.whole_scope(project_id, where, most, embedder.name, embedder.dims)
    if read is None:
        return None
    memories, vectors = read
    return WholeScope({memory.id: memory for memory in memories}, _of_length_1(vectors.astype(np.float64)))


def _of_length_1(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Along the last axis; a vector of zeros stays one."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    directions: npt.NDArray[np.float64] = vectors / np.where(length == 0, 1.0, length)
    return directions
