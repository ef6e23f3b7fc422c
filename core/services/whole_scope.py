"""A small scope read whole from PostgreSQL, vectors included: once the query is embedded, nothing is left to ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
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

    def nearest(self, vector: Matrix, limit: int) -> dict[UUID, float]:
        """The cosines to `vector`, shape (dims,), of the `limit` nearest memories, nearest first.

        They are as exact as float32 holds them: so none depends on the order of the memories, or on their number.
        """
        asked = _of_length_1(vector.astype(np.float64))
        cosines = (self.directions @ asked).astype(np.float32).tolist()
        best = sorted(zip(cosines, self.memories, strict=True), key=itemgetter(0), reverse=True)[:limit]
        return {id_: cosine for cosine, id_ in best}


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
