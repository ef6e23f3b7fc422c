"""Memories to index points: what is embedded, and which words, entities and keys stand in the index.

A point is a pure function of the memory's row and of the rows around it in its conversation: reindexing
gives the same points without a model call.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from core.domain.conversation import CONTEXT_REACH, CONTEXT_WEIGHTS, said_together, speaker_of
from core.domain.memory import Memory, MemoryState
from core.domain.payload import payload_of
from core.ports.index import IndexPoint, SparseVector
from core.text import bm25
from core.text.context_terms import context_document
from core.text.entities import canonical_key, entity_keys, entity_sparse


def embedding_text(memory: Memory) -> str:
    """What is embedded for a memory: its text, with the speaker in front where a message named one.

    Changing this function changes every vector: it takes `memlane reindex --re-embed` to apply.
    """
    return indexed_text(memory)


def embedding_text_of(text: str, actor_id: str | None) -> str:
    """The same for a memory that is not stored yet."""
    return text if actor_id is None or speaker_of(text) is not None else f"{actor_id}: {text}"


def indexed_text(memory: Memory) -> str:
    """The memory's text; "Ana: …" where the message carried the name Ana and the text does not begin with it."""
    return embedding_text_of(memory.memory, memory.actor_id)


def build_points(memories: Sequence[Memory], neighbours: Iterable[Memory]) -> list[IndexPoint]:
    """The points of `memories`, in order; each must carry its embedding.

    `neighbours` are the memories within ±CONTEXT_REACH positions of the same scope and lane, in any order
    (`MemoryStore.neighbours` gives them); the memories themselves and rows from elsewhere may be among them.
    Whenever a memory arrives, changes or goes, the points of its neighbours have to be built again.
    """
    lanes = _by_lane(neighbours)
    return [_point(memory, lanes[_lane(memory)]) for memory in memories]


def _point(memory: Memory, lane: Sequence[Memory]) -> IndexPoint:
    return IndexPoint(
        id=memory.id,
        dense=vector_of(memory).tolist(),
        bm25=SparseVector(*bm25.document(indexed_text(memory))),
        bm25_ctx=SparseVector(*context_document(_context(memory, lane))),
        entity=SparseVector(*entity_sparse(_keys(memory))),
        payload=payload_of(memory),
    )


def vector_of(memory: Memory) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """The stored embedding, float32 of shape (dims,). Raises ValueError for a memory without one."""
    if memory.embedding is None:
        raise ValueError(f"memory {memory.id} has no embedding")
    return np.frombuffer(memory.embedding, dtype="<f4").astype(np.float32)


def _lane(memory: Memory) -> tuple[str, str]:
    return memory.scope.key, memory.lane_key


def _by_lane(memories: Iterable[Memory]) -> defaultdict[tuple[str, str], list[Memory]]:
    lanes: defaultdict[tuple[str, str], list[Memory]] = defaultdict(list)
    for memory in {memory.id: memory for memory in memories}.values():
        if memory.state is MemoryState.ACTIVE:
            lanes[_lane(memory)].append(memory)
    for lane in lanes.values():
        lane.sort(key=lambda memory: (memory.position, memory.id))
    return lanes


def _context(memory: Memory, lane: Sequence[Memory]) -> Iterator[tuple[str, float]]:
    """The memory's own text and its neighbours', each with its weight."""
    yield indexed_text(memory), CONTEXT_WEIGHTS[0]
    first = bisect_left(lane, memory.position - CONTEXT_REACH, key=lambda other: other.position)
    after = bisect_left(lane, memory.position + CONTEXT_REACH + 1, key=lambda other: other.position)
    for other in lane[first:after]:
        if other.id != memory.id and said_together(memory, other):
            distance = abs(other.position - memory.position)
            yield indexed_text(other), CONTEXT_WEIGHTS[max(distance, 1)]


def _keys(memory: Memory) -> list[str]:
    """Canonical and alias keys of the memory's entities and of its speaker."""
    keys = [key for entity in memory.entities for key in entity_keys(entity)]
    speaker = speaker_of(memory.memory) or memory.actor_id
    if speaker:
        keys.append(canonical_key(speaker))
    return [key for key in dict.fromkeys(keys) if key]
