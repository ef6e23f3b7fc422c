"""Revert: a memory gets the content of one of its versions again. Itself an update, with its history row."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from core.domain.errors import MemlaneError
from core.domain.memory import Memory, MemoryState, expired
from core.services.change import Target, locked, tried_again
from core.services.collections import require_embedder
from core.services.project import project_now
from core.services.runtime import Runtime
from core.services.update_memory import refuse_immutable, store_change, vector_for


def revert_memory(runtime: Runtime, target: Target, version: int) -> Memory:
    """Returns the memory as it is now stored: a new version, or the one it has where nothing differs.

    Restored are text, metadata, categories, entities, dates and standing (a superseded memory reverted to a version
    in which it was current is current again). Raises MemlaneError: `memory_not_found`, `version_not_found`,
    `memory_immutable`, `version_mismatch`, `duplicate_memory` (with the other's `memory_id`). Raises ModelError.
    """
    with runtime.database.transaction(target.project_id) as tx:
        before = tx.changes.read(target.project_id, target.memory_id)
        if before is None:
            raise MemlaneError("memory_not_found")
        wanted = tx.history.version(before, version)
    refuse_immutable(before)
    if wanted is None:
        raise MemlaneError("version_not_found")
    vector = vector_for(runtime, before, wanted.memory)

    def work() -> tuple[Memory, list[UUID]]:
        with runtime.database.transaction(target.project_id) as tx:
            require_embedder(runtime, tx.rebuild.held())
            tx.memories.lock_scopes(target.project_id, [before.scope.key])
            old = locked(tx, target)
            refuse_immutable(old)
            past = tx.history.version(old, version)
            if past is None:
                raise MemlaneError("version_not_found")
            return store_change(runtime, tx, old, _restored(runtime, old, past, vector), None)

    memory, waiting = tried_again(work)
    project_now(runtime, target.project_id, waiting)
    return memory


def _restored(runtime: Runtime, old: Memory, past: Memory, vector: bytes) -> Memory:
    new = replace(past, version=old.version + 1, updated_at=runtime.clock.now())
    if new.memory != old.memory:
        new.embedding = vector
    if old.state is MemoryState.EXPIRED and expired(new.expiration_date, runtime.clock.now().date()):
        new.state = MemoryState.EXPIRED
    return new
