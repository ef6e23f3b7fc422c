"""What clients were told, as they write it down: the one side of the comparison that history.py makes."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID


@dataclass
class Add:
    """One add. `event` is None when no answer came: then it may have been accepted or not, but not twice."""

    lane: str
    number: int
    text: str
    key: str | None = None
    event: UUID | None = None
    status: str | None = None  # as last told of the event
    memory: UUID | None = None  # as told when the event had succeeded
    now: str | None = None  # its text after an update that was answered
    deleted: bool = False
    erased: bool = False  # its user was erased after it had been sent
    unsure: str | None = None  # a change that the run's end left unanswered: its new text, or empty
    shared: bool = False  # another lane says the same into the same scope

    @property
    def answered(self) -> bool:
        return self.event is not None


@dataclass
class Diary:
    """Every client's notes. `violations` are what no fault excuses, noticed at once."""

    adds: list[Add] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, add: Add) -> None:
        with self._lock:
            self.adds.append(add)

    def accuse(self, what: str) -> None:
        with self._lock:
            self.violations.append(what)

    def count(self, what: str) -> None:
        with self._lock:
            self.counts[what] = self.counts.get(what, 0) + 1


@dataclass(frozen=True)
class Truth:
    """The tables at the end: rows as the store has them."""

    events: list[Any]  # id, state, lane_key, seq, error, results
    memories: list[Any]  # id, memory, state, source_event_id, lane_key, stored_seq
    history: list[Any]  # memory_id, event, new_memory
