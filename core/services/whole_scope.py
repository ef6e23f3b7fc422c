"""A small scope read whole from PostgreSQL, vectors included: once the query is embedded, nothing is left to ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import numpy.typing as npt

from core.domain.filter_scope import single_scope
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
        """The cosines to `vector`, shape (dims,), of the `limit` nearest memories, nearest first, then by id.

        Each is summed for itself: a matrix product would let its last bit depend on how many memories there are.
        """
        asked = _of_length_1(vector.astype(np.float64))
        cosines = (self.directions * asked).sum(axis=1).astype(np.float32).tolist()
        best = sorted(zip(cosines, self.memories, strict=True), key=lambda pair: (-pair[0], pair[1]))[:limit]
        return {id_: cosine for cosine, id_ in best}


def read_whole(runtime: Runtime, project_id: UUID, where: Node, most: int) -> WholeScope | None:
    """What the filter selects now.

    None unless it pins one scope of at most `most` rows, whose vectors are of the runtime's embedder, and selects
    something. Raises DatabaseUnavailable, and ModelError of an embedder that has to be asked for its dimensions.
    """
    if single_scope(where) is None:
        return None
    model, dims = runtime.models.embedder.name, runtime.models.embedder.dims
    with runtime.database.statements(project_id) as tx:
        memories, vectors = tx.search_reads.whole_scope(project_id, where, most, model, dims)
    if not memories:
        return None
    return WholeScope({memory.id: memory for memory in memories}, _of_length_1(vectors.astype(np.float64)))


def _of_length_1(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Along the last axis; a vector of zeros stays one."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    directions: npt.NDArray[np.float64] = vectors / np.where(length == 0, 1.0, length)
    return directions
