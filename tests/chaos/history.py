"""The history checker: what clients were told against what the tables hold at the end."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.adapters.sql.database import SqlDatabase
from tests.chaos.told import Add, Diary, Truth

_ENDED = ("projected", "failed")
_EVENTS = text("SELECT id, state, lane_key, seq, error, results FROM events WHERE event_type = 'ADD'")
_MEMORIES = text("SELECT id, memory, state, source_event_id, lane_key, stored_seq FROM memories")
_HISTORY = text("SELECT memory_id, event, new_memory FROM history")


@dataclass
class Findings:
    """Each a list of what is wrong; a run without a fault has none."""

    lost: list[str] = field(default_factory=list)
    duplicated: list[str] = field(default_factory=list)
    inverted: list[str] = field(default_factory=list)
    phantom: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        return {kind: len(found) for kind, found in vars(self).items()}

    def some(self) -> dict[str, list[str]]:
        return {kind: found[:5] for kind, found in vars(self).items() if found}


def read_truth(database: SqlDatabase) -> Truth:
    with database.operations() as tx:
        rows = [list(tx.connection.execute(query)) for query in (_EVENTS, _MEMORIES, _HISTORY)]
    return Truth(*rows)


def compare(diary: Diary, truth: Truth) -> Findings:
    """Lost, duplicated, inverted within a lane, phantom, stuck: see the functions below for what each means."""
    found = Findings()
    found.stuck += [f"event {row.id} is {row.state}" for row in truth.events if row.state not in _ENDED]
    stored = _Stored(truth)
    for add in diary.adds:
        _judge(add, stored, found)
    _judge_shared([add for add in diary.adds if add.shared], stored, found)
    _phantoms(diary.adds, truth, found)
    _order(diary.adds, stored, found)
    return found


class _Stored:
    """The tables, by what a client knows of them."""

    def __init__(self, truth: Truth) -> None:
        self.events = {row.id: row for row in truth.events}
        self.memories = {row.id: row for row in truth.memories}
        self.by_event: dict[UUID, list[Any]] = defaultdict(list)
        self.active: dict[str, list[Any]] = defaultdict(list)
        self.first_texts = {row.memory_id: row.new_memory for row in truth.history if row.event == "ADD"}
        self.added: dict[str, list[UUID]] = defaultdict(list)
        for row in truth.memories:
            self.by_event[row.source_event_id].append(row)
            if row.state == "active":
                self.active[row.memory].append(row)
        for memory_id, first in self.first_texts.items():
            self.added[first].append(memory_id)
        self.updates = Counter((row.memory_id, row.new_memory) for row in truth.history if row.event == "UPDATE")


def _judge(add: Add, stored: _Stored, found: Findings) -> None:
    """One add: an answered one has one effect, an unanswered one at most one, an erased one none."""
    active = [row for text in _texts(add) for row in stored.active[text]]
    said = f"{add.lane} {add.number} ({add.event})"
    if len(active) > 1 or len(stored.added[add.text]) > 1:
        found.duplicated.append(f"{said}: {len(active)} active, {len(stored.added[add.text])} additions")
    if add.event is None or add.unsure is not None:
        return
    event = stored.events.get(add.event)
    if event is None:
        found.lost.append(f"{said}: its event is gone")
        return
    if add.erased:
        if active or stored.added[add.text]:
            found.phantom.append(f"{said}: there again after its erasure")
        return
    if event.state == "failed":
        found.lost.append(f"{said}: failed with {(event.error or {}).get('code')}")
    elif event.state == "projected" and not add.shared:
        _effect(add, active, stored, found)


def _texts(add: Add) -> list[str]:
    """What its memory may read now."""
    return [text for text in (add.text, add.now, add.unsure) if text]


def _effect(add: Add, active: list[Any], stored: _Stored, found: Findings) -> None:
    said = f"{add.lane} {add.number} ({add.event})"
    if add.deleted:
        if active:
            found.phantom.append(f"{said}: there again after it was deleted")
    elif not active:
        found.lost.append(f"{said}: succeeded, and nothing is stored")
    elif add.now is not None and active[0].memory != add.now:
        found.lost.append(f"{said}: its update, which was answered")
    if add.memory is not None and add.now is not None and stored.updates[add.memory, add.now] > 1:
        found.duplicated.append(f"{said}: one update stands in history more than once")
    if add.memory is not None and not add.deleted and add.memory not in {row.id for row in active}:
        found.lost.append(f"{said}: told as memory {add.memory}, which is not there")


def _judge_shared(shared: Iterable[Add], stored: _Stored, found: Findings) -> None:
    """Two lanes say one text into one scope: it stands there once, if either was answered."""
    for text_ in {add.text for add in shared if add.answered}:
        if not stored.active[text_]:
            found.lost.append(f"{text_!r}: accepted, and nobody stored it")


def _phantoms(adds: Iterable[Add], truth: Truth, found: Findings) -> None:
    """What nobody has sent, and memories of no event or of one that failed."""
    sent = {text for add in adds for text in _texts(add)}
    events = {row.id: row.state for row in truth.events}
    for row in truth.memories:
        if row.state == "deleted":
            continue
        if row.memory not in sent:
            found.phantom.append(f"{row.memory!r} was sent by nobody")
        elif events.get(row.source_event_id) != "projected":
            found.phantom.append(f"{row.memory!r} of event {row.source_event_id}, which did not succeed")


def _order(adds: Iterable[Add], stored: _Stored, found: Findings) -> None:
    """Within a lane memories are stored in the order of acceptance, which is the order that its client knows."""
    lanes: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for add in adds:
        if add.event is None or add.shared:
            continue
        event, rows = stored.events.get(add.event), stored.by_event.get(add.event, [])
        if event is not None and rows:
            lanes[add.lane].append((add.number, event.seq, rows[0].stored_seq))
    for lane, known in lanes.items():
        heard = sorted(known)
        for (number, seq, place), (later, later_seq, later_place) in pairwise(heard):
            if seq > later_seq or place > later_place:
                found.inverted.append(f"{lane}: {later} came before {number}")
