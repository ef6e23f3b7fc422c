"""Update: text, metadata, time and expiration of one memory, with its history and its place in the index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import Enum
from typing import Any, Final
from uuid import UUID

import numpy as np

from core.domain.errors import MemlaneError
from core.domain.identity_keys import without_identity
from core.domain.memory import Memory, MemoryState, expired
from core.ports.database import Transaction
from core.ports.models import ModelError
from core.services.change import Target, locked, tried_again
from core.services.collections import require_embedder
from core.services.points import embedding_text
from core.services.project import affected, project_now
from core.services.read_memory import read_memory
from core.services.runtime import Runtime
from core.text.entities import entities
from core.text.normalise import canonical, content_hash


class Keep(Enum):
    """The absence of a value where null is a value."""

    KEEP = "keep"


KEEP: Final = Keep.KEEP


@dataclass(frozen=True)
class Change:
    """What to change. `metadata` replaces the whole object; `expiration_date=None` clears it."""

    text: str | None = None
    metadata: dict[str, Any] | None = None
    created_at: datetime | None = None
    expiration_date: date | Keep | None = KEEP

    @property
    def empty(self) -> bool:
        return self == Change()


def update_memory(runtime: Runtime, target: Target, change: Change) -> Memory:
    """Returns the memory as it is now stored and, but for an index that is away, searchable.

    Raises MemlaneError: `validation_failed` (nothing to change, a text the embedder refuses), `memory_not_found`,
    `memory_immutable`, `version_mismatch`, `duplicate_memory` (with the other's `memory_id`). Raises ModelError.
    """
    if change.empty:
        raise MemlaneError(
            "validation_failed", "At least one of text, metadata, timestamp, expiration_date is required."
        )
    before = read_memory(runtime.database, target.project_id, target.memory_id)
    refuse_immutable(before)
    vector = _vector(runtime, before, change)

    def work() -> tuple[Memory, list[UUID]]:
        with runtime.database.transaction(target.project_id) as tx:
            require_embedder(runtime, tx.rebuild.held())
            tx.memories.lock_scopes(target.project_id, [before.scope.key])
            return change_in(runtime, tx, target, change, vector)

    memory, waiting = tried_again(work)
    project_now(runtime, target.project_id, waiting)
    return memory


def refuse_immutable(memory: Memory) -> None:
    if memory.immutable:
        raise MemlaneError("memory_immutable")


def change_in(
    runtime: Runtime, tx: Transaction, target: Target, change: Change, vector: bytes | None
) -> tuple[Memory, list[UUID]]:
    """The change inside the caller's transaction, which holds the lock of the memory's scope.

    Returns the new row, and the memories to project after the commit.
    """
    old = locked(tx, target)
    refuse_immutable(old)
    new = _changed(runtime, old, change, vector)
    source = [{"role": "user", "content": change.text}] if change.text is not None else None
    return store_change(runtime, tx, old, new, source)


def store_change(
    runtime: Runtime, tx: Transaction, old: Memory, new: Memory, source: Sequence[dict[str, Any]] | None
) -> tuple[Memory, list[UUID]]:
    """Write the locked row `old` as `new`, unless nothing but version and time differ.

    Returns the row as it now stands, and the memories to project after the commit. Raises `duplicate_memory`.
    """
    if new == replace(old, version=new.version, updated_at=new.updated_at):
        return old, []
    if new.state is MemoryState.ACTIVE:
        _make_room(runtime, tx, new)
    tx.changes.write(new)
    if new.memory != old.memory:
        tx.changes.unlink(new.project_id, [new.id])
        tx.memories.link([new])
        if new.categories is None and runtime.models.chat is not None:
            tx.categorizations.request(new.project_id, new.id, new.version)
    tx.changes.record_update(old, new, source)
    waiting = affected(tx, new.project_id, [new])
    tx.projections.request(new.project_id, waiting)
    return new, waiting


def _vector(runtime: Runtime, before: Memory, change: Change) -> bytes | None:
    """The text's embedding, before any row is locked; None where the change is not about the text.

    Also of a text that is there already: another writer may have replaced it by the time the row is locked.
    """
    if change.text is None:
        return None
    return vector_for(runtime, before, canonical(change.text))


def vector_for(runtime: Runtime, before: Memory, text: str) -> bytes:
    """The embedding of a memory with another text, or the one it has where the text is its own."""
    if text == before.memory and before.embedding is not None:
        return before.embedding
    return embedded(runtime, replace(before, memory=text))


def embedded(runtime: Runtime, memory: Memory) -> bytes:
    """Little-endian float32. Raises ModelError (provider), MemlaneError("validation_failed") (this text)."""
    try:
        rows = runtime.models.embedder.embed_passages([embedding_text(memory)])
    except ModelError as error:
        if error.about == "input":
            raise MemlaneError("validation_failed", "The embedder refuses this text.", pointer="text") from error
        raise
    return np.asarray(rows[0], dtype="<f4").tobytes()


def _changed(runtime: Runtime, old: Memory, change: Change, vector: bytes | None) -> Memory:
    new = replace(old, version=old.version + 1, updated_at=runtime.clock.now())
    if change.text is not None and (text := canonical(change.text)) != old.memory:
        new.memory, new.hash, new.embedding = text, content_hash(text), vector
        new.entities = list(entities(text, old.actor_id))
        if runtime.models.chat is not None:
            new.categories = None  # those of the old text; `categorize` finds the new one's after the commit
    if change.metadata is not None:
        new.metadata = without_identity(change.metadata)[0]
    if change.created_at is not None:
        new.created_at = change.created_at
    if not isinstance(change.expiration_date, Keep):
        new.expiration_date = change.expiration_date
        if old.state is MemoryState.EXPIRED and not expired(new.expiration_date, runtime.clock.now().date()):
            new.state = MemoryState.ACTIVE
    return new


def _make_room(runtime: Runtime, tx: Transaction, new: Memory) -> None:
    """Nobody else may hold the text in this scope; a row that has expired gives way."""
    key = new.scope.key
    other = tx.memories.active_by_hash(new.project_id, [key], [new.hash]).get((key, new.hash))
    if other is None or other.id == new.id:
        return
    if not expired(other.expiration_date, runtime.clock.now().date()):
        raise MemlaneError("duplicate_memory", memory_id=str(other.id))
    tx.memories.expire([other.id])
    tx.projections.request(new.project_id, [other.id])
