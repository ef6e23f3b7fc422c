"""What the work on one event asks of the tables, each in one round trip: the scopes it meets, and its commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol
from uuid import UUID

from core.domain.memory import Memory, Relation
from core.ports.stores.collections import ByRole
from core.ports.stores.events import EventResult
from core.ports.stores.lanes import LaneRef
from core.ports.stores.memories import KnownText


@dataclass(frozen=True)
class ScopeRow:
    """An active memory, without its text. `embedding`: little-endian float32. `stored_seq` grows in its scope with
    every memory that is stored."""

    id: UUID
    scope_key: str
    hash: str
    stored_seq: int
    expiration_date: date | None
    embedding: bytes | None


@dataclass(frozen=True)
class Known:
    """`texts`: by (scope_key, hash), the active memory with that text. `fresh`: see `IngestionStore.known`."""

    texts: dict[tuple[str, str], KnownText]
    fresh: list[Memory]


@dataclass(frozen=True)
class Additions:
    """What an event adds. `history` as `MemoryTraces.record` takes it; `messages`: project_id, lane_key, event_id
    and the fields of SaidBefore, in order of position, of which the lane keeps the last `keep`, at least one."""

    memories: Sequence[Memory] = ()
    history: Sequence[Mapping[str, Any]] = ()
    relations: Mapping[UUID, Sequence[Relation]] = field(default_factory=dict)  # by memory
    messages: Sequence[Mapping[str, Any]] = ()
    keep: int = 1


class IngestionStore(Protocol):
    """`whole` is Context's. A commit calls `enter`, then `known` where it has to compare, `store` and `finish`; the
    projection of a turn begins with `enter` too."""

    def whole(self, project_id: UUID, scope_keys: Sequence[str], most: int) -> list[ScopeRow] | None:
        """All active memories of these scopes; None when there are more than `most`."""
        ...

    def enter(self, lane: LaneRef, scope_keys: Sequence[str]) -> ByRole | None:
        """The index's collections, unchanged until this transaction ends; None when the lane's fence is not in force.

        A takeover of the lane waits until then, and so do other writers of these scopes, which may be none.
        """
        ...

    def known(
        self, project_id: UUID, scope_keys: Sequence[str], hashes: Sequence[str], marks: Mapping[str, int]
    ) -> Known:
        """Who holds these texts, and as `fresh` the active memories of these scopes, not expired, whose `stored_seq`
        is beyond their scope's mark (by key; 0 where there is none), in order of storing."""
        ...

    def store(self, new: Additions) -> None:
        """Memories with their history, entities and relations, and the messages; forgets older messages now and then.

        A text that is active in its scope already ends the transaction with UniqueViolation.
        """
        ...

    def finish(
        self, lane: LaneRef, event_id: UUID, done: EventResult, changed: Sequence[Memory], reach: int
    ) -> list[UUID] | None:
        """claimed → committed, with projections asked for: of `changed`, and of the active memories within ±`reach`
        positions of them in their conversation. The ids of all of these; None when the event was not claimed by this
        lease any more, which must end the transaction.
        """
        ...
