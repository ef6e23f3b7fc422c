"""The history checker finds each kind of fault, and none where there is none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.chaos.history import Findings, compare
from tests.chaos.told import Add, Diary, Truth


def world(count: int = 3) -> tuple[Diary, Truth]:
    """A lane of adds, each answered and stored once."""
    diary, truth = Diary(), Truth([], [], [])
    for number in range(count):
        add = Add("ann", number, f"Fact {number}", event=uuid4())
        diary.note(add)
        truth.events.append(row(id=add.event, state="projected", lane_key="ann", seq=number, error=None, results=[]))
        remember(truth, add, number)
    return diary, truth


def row(**fields: Any) -> SimpleNamespace:
    return SimpleNamespace(**fields)


def remember(truth: Truth, add: Add, place: int, text: str | None = None) -> UUID:
    id_ = uuid4()
    memory = text or add.text
    truth.memories.append(
        row(id=id_, memory=memory, state="active", source_event_id=add.event, lane_key=add.lane, stored_seq=place)
    )
    truth.history.append(row(memory_id=id_, event="ADD", new_memory=memory))
    return id_


def nothing(diary: Diary, truth: Truth) -> None: ...


def an_event_is_gone(diary: Diary, truth: Truth) -> None:
    truth.events.pop()
    truth.memories.pop()
    truth.history.pop()


def a_success_without_a_memory(diary: Diary, truth: Truth) -> None:
    truth.memories.pop()
    truth.history.pop()


def an_update_undone(diary: Diary, truth: Truth) -> None:
    diary.adds[1].now = "Fact 1, but newer"


def a_failure(diary: Diary, truth: Truth) -> None:
    truth.events[0].state = "failed"
    truth.memories.pop(0)
    truth.history.pop(0)


def stored_twice(diary: Diary, truth: Truth) -> None:
    remember(truth, diary.adds[0], 0)


def an_unanswered_add_stored_twice(diary: Diary, truth: Truth) -> None:
    add = Add("ann", 3, "Fact 3")
    diary.note(add)
    for place in (3, 4):
        truth.events.append(row(id=uuid4(), state="projected", lane_key="ann", seq=place, error=None, results=[]))
        remember(truth, Add("ann", 3, "Fact 3", event=truth.events[-1].id), place)


def two_in_the_wrong_order(diary: Diary, truth: Truth) -> None:
    truth.memories[0].stored_seq, truth.memories[1].stored_seq = 1, 0


def a_text_of_nobody(diary: Diary, truth: Truth) -> None:
    remember(truth, diary.adds[2], 9, "Said by nobody")


def back_after_erasure(diary: Diary, truth: Truth) -> None:
    diary.adds[0].erased = True


def back_after_deletion(diary: Diary, truth: Truth) -> None:
    diary.adds[0].deleted = True


def an_event_without_an_end(diary: Diary, truth: Truth) -> None:
    diary.note(Add("ann", 3, "Fact 3", event=uuid4()))
    truth.events.append(row(id=diary.adds[-1].event, state="claimed", lane_key="ann", seq=3, error=None, results=[]))


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (nothing, None),
        (an_event_is_gone, "lost"),
        (a_success_without_a_memory, "lost"),
        (an_update_undone, "lost"),
        (a_failure, "lost"),
        (stored_twice, "duplicated"),
        (an_unanswered_add_stored_twice, "duplicated"),
        (two_in_the_wrong_order, "inverted"),
        (a_text_of_nobody, "phantom"),
        (back_after_erasure, "phantom"),
        (back_after_deletion, "phantom"),
        (an_event_without_an_end, "stuck"),
    ],
)
def test_each_kind_of_fault_is_found_and_no_other(fault: Any, kind: str | None) -> None:
    diary, truth = world()
    fault(diary, truth)
    counts = compare(diary, truth).counts()
    assert {name for name, number in counts.items() if number} == ({kind} if kind else set())


def test_an_unanswered_add_may_be_there_once_or_not_at_all() -> None:
    diary, truth = world()
    for number in (3, 4):
        diary.note(Add("ann", number, f"Fact {number}"))
    truth.events.append(row(id=uuid4(), state="projected", lane_key="ann", seq=3, error=None, results=[]))
    remember(truth, Add("ann", 3, "Fact 3", event=truth.events[-1].id), 3)
    assert compare(diary, truth) == Findings()
