"""Batches: many memories updated or deleted, all of them or none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np

from core.domain.errors import MemlaneError
from core.domain.memory import Memory
from core.ports.models import ModelError
from core.services.change import Target, tried_again
from core.services.collections import require_embedder
from core.services.delete_memory import delete_in
from core.services.embed import embed_all
from core.services.points import embedding_text
from core.services.project import project_now
from core.services.runtime import Runtime
from core.services.update_memory import Change, change_in, refuse_immutable
from core.text.normalise import canonical

MAX_BATCH = 1_000


@dataclass(frozen=True)
class Item:
    memory_id: UUID
    change: Change


def update_batch(runtime: Runtime, project_id: UUID, items: Sequence[Item]) -> int:
    """Returns the number of memories. New texts are embedded together; one fault leaves all as they were.

    Raises MemlaneError as `update_memory` does, `pointer` naming the item (memories[n]). Raises ModelError.
    """
    before = _read(runtime, project_id, [item.memory_id for item in items])
    for number, item in enumerate(items):
        with _naming(number):
            refuse_immutable(before[item.memory_id])
    vectors = _vectors(runtime, before, items)

    def work() -> list[UUID]:
        waiting: list[UUID] = []
        with runtime.database.transaction(project_id) as tx:
            require_embedder(runtime, tx.rebuild.held())
            tx.memories.lock_scopes(project_id, [memory.scope.key for memory in before.values()])
            for number, item in enumerate(items):
                with _naming(number):
                    target = Target(project_id, item.memory_id)
                    waiting += change_in(runtime, tx, target, item.change, vectors.get(number))[1]
        return list(dict.fromkeys(waiting))

    project_now(runtime, project_id, tried_again(work))
    return len(items)


def delete_batch(runtime: Runtime, project_id: UUID, memory_ids: Sequence[UUID]) -> int:
    """Returns the number of memories; an id given twice counts once. Raises `memory_not_found` with `pointer`."""
    wanted = list(dict.fromkeys(memory_ids))

    def work() -> list[UUID]:
        with runtime.database.transaction(project_id) as tx:
            memories = tx.changes.lock(project_id, wanted)
            _require_all(memory_ids, {memory.id for memory in memories})
            return delete_in(tx, project_id, memories)

    project_now(runtime, project_id, tried_again(work))
    return len(wanted)


def _read(runtime: Runtime, project_id: UUID, wanted: Sequence[UUID]) -> dict[UUID, Memory]:
    with runtime.database.transaction(project_id) as tx:
        found: dict[UUID, Memory] = {memory.id: memory for memory in tx.changes.read_many(project_id, wanted)}
    _require_all(wanted, set(found))
    return found


def _require_all(wanted: Sequence[UUID], found: set[UUID]) -> None:
    for number, id_ in enumerate(wanted):
        with _naming(number):
            if id_ not in found:
                raise MemlaneError("memory_not_found")


def _vectors(runtime: Runtime, before: Mapping[UUID, Memory], items: Sequence[Item]) -> dict[int, bytes]:
    """Item number → the text's embedding, for the items that name a text; see `update_memory`."""
    texts: dict[int, str] = {}
    vectors: dict[int, bytes] = {}
    for number, item in enumerate(items):
        memory = before[item.memory_id]
        if item.change.text is None:
            continue
        if canonical(item.change.text) == memory.memory and memory.embedding is not None:
            vectors[number] = memory.embedding
        else:
            texts[number] = embedding_text(replace(memory, memory=canonical(item.change.text)))
    for number, vector in zip(texts, embed_all(runtime.models.embedder, list(texts.values())), strict=True):
        with _naming(number):
            if isinstance(vector, ModelError):
                raise MemlaneError("validation_failed", "The embedder refuses this text.")
            vectors[number] = np.asarray(vector, dtype="<f4").tobytes()
    return vectors


@contextmanager
def _naming(number: int) -> Iterator[None]:
    """Errors raised inside say which item of the batch they are about."""
    try:
        yield
    except MemlaneError as error:
        error.pointer = f"memories[{number}]"
        raise
