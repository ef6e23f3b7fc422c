"""What Memlane should hold, in plain Python: memories with their versions, lanes of accepted requests, entities."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

MAX_CRASHES = 2


@dataclass
class Known:
    """One memory that was ever stored. `versions` maps a version to (text, metadata)."""

    id: UUID
    lane: str
    source: UUID
    versions: dict[int, tuple[str, dict[str, Any]]]
    alive: bool = True
    purged: bool = False

    @property
    def version(self) -> int:
        return max(self.versions)

    @property
    def content(self) -> tuple[str, dict[str, Any]]:
        return self.versions[self.version]

    @property
    def text(self) -> str:
        return self.content[0]


@dataclass
class Asked:
    """One accepted request of a lane. `lost` = how often a worker went away while it worked on it."""

    id: UUID
    kind: str
    text: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    lost: int = 0
    erased: bool = False


@dataclass
class Model:
    lanes: dict[str, list[Asked]]  # what has not ended yet, in order of acceptance
    memories: dict[UUID, Known] = field(default_factory=dict)
    accepted: list[UUID] = field(default_factory=list)
    failed: list[tuple[str, Asked]] = field(default_factory=list)  # (lane, request)
    known: set[str] = field(default_factory=set)  # entities that an erasure would find
    fresh: set[str] = field(default_factory=set)  # those with something accepted since their last erasure
    erased: set[str] = field(default_factory=set)  # entities that were erased at least once

    def alive(self, lane: str | None = None) -> list[Known]:
        return [m for m in self.memories.values() if m.alive and lane in (None, m.lane)]

    def holder(self, lane: str, text: str, but: Known | None = None) -> Known | None:
        """The active memory of the lane that has the text."""
        return next((m for m in self.alive(lane) if m.text == text and m is not but), None)

    def ask(self, lane: str, asked: Asked) -> None:
        self.lanes[lane].append(asked)
        self.accepted.append(asked.id)

    def change(self, memory: Known, content: tuple[str, dict[str, Any]]) -> str | None:
        """An update; the error that it must raise, or None. What changes nothing makes no version."""
        if not memory.alive:
            return "memory_not_found"
        if content == memory.content:
            return None
        if self.holder(memory.lane, content[0], but=memory):
            return "duplicate_memory"
        memory.versions[memory.version + 1] = content
        return None

    def revert(self, memory: Known, version: int) -> str | None:
        if not memory.alive:
            return "memory_not_found"
        if version not in memory.versions:
            return "version_not_found"
        return self.change(memory, memory.versions[version])

    def change_all(self, changes: list[tuple[Known, tuple[str, dict[str, Any]]]]) -> str | None:
        """A batch: all or none, in order."""
        if not all(memory.alive for memory, _ in changes):
            return "memory_not_found"
        before = {memory.id: dict(memory.versions) for memory, _ in changes}
        for memory, content in changes:
            error = self.change(memory, content)
            if error is not None:
                for changed, _ in changes:
                    changed.versions = before[changed.id]
                return error
        return None

    def delete(self, *memories: Known) -> str | None:
        if not all(memory.alive for memory in memories):
            return "memory_not_found"
        for memory in memories:
            memory.alive = False
        return None

    def erase(self, lane: str, asked: Asked) -> None:
        """What is open ends as erased; the job that follows leaves nothing."""
        for open_ in self.lanes[lane]:
            open_.erased = open_.erased or open_.kind != "DELETE_USER"
        self.ask(lane, asked)
        self.fresh.discard(lane)
        for where, failed in self.failed:
            failed.erased = failed.erased or where == lane
        self.delete(*self.alive(lane))
        self.erased.add(lane)

    def retry(self, number: int) -> str | None:
        """A failed request comes back at the end of its lane, unless an erasure has emptied it."""
        lane, asked = self.failed[number]
        if asked.erased:
            return "event_not_retryable"
        del self.failed[number]
        asked.lost = 0
        self.lanes[lane].append(asked)
        return None

    def ended(self, lane: str, asked: Asked, results: list[dict[str, Any]]) -> None:
        """The request's effect is committed, with these results; raises AssertionError where they are wrong."""
        if asked.kind == "ADD":
            self._added(lane, asked, results)
            return
        assert results == []
        if asked.kind == "DELETE_ALL":
            self.delete(*self.alive(lane))
        for memory in self.memories.values():
            memory.purged = memory.purged or (memory.lane == lane and not memory.alive)

    def _added(self, lane: str, asked: Asked, results: list[dict[str, Any]]) -> None:
        if self.holder(lane, asked.text):
            assert results == [], "a duplicate was stored"
            return
        assert [result["memory"] for result in results] == [asked.text]
        id_ = UUID(results[0]["id"])
        assert id_ not in self.memories
        self.memories[id_] = Known(id_, lane, asked.id, {1: (asked.text, asked.metadata)})
