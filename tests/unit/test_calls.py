"""Calls past their deadlines are noticed, and only those."""

from __future__ import annotations

import pytest

from core.services.calls import Calls, watched


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Target:
    name = "target"

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.told: list[str | None] = []

    def work(self, clock: Clock, seconds: float) -> str:
        clock.now += seconds
        self.told.append(self.calls.overdue(30.0))
        return "done"

    def free(self) -> str | None:
        return self.calls.overdue(0.0)


@pytest.mark.parametrize(("seconds", "told"), [(39.0, None), (41.0, "Target.work is 31 s past its deadline")])
def test_a_call_is_overdue_when_the_grace_is_over_too(seconds: float, told: str | None) -> None:
    clock = Clock()
    calls = Calls(clock)
    target = Target(calls)
    assert watched(target, calls, {"work": 10.0}).work(clock, seconds) == "done"
    assert target.told == [told]
    clock.now += 1000
    assert calls.overdue(0.0) is None


def test_of_several_the_latest_is_told_and_an_error_ends_a_call_too() -> None:
    clock = Clock()
    calls = Calls(clock)
    with calls.within("long", 100.0), calls.within("short", 1.0):
        clock.now = 50.0
        assert (calls.overdue(10.0) or "").startswith("short is 49 s")
        clock.now = 90.0
    with pytest.raises(RuntimeError), calls.within("broken", 0.0):
        raise RuntimeError
    clock.now = 200.0
    assert calls.overdue(0.0) is None


def test_everything_else_of_the_target_is_as_it_was() -> None:
    calls = Calls()
    target = Target(calls)
    seen = watched(target, calls, {"work": 10.0})
    assert (seen.name, seen.free()) == ("target", None)
    with pytest.raises(AttributeError):
        _ = seen.missing  # type: ignore[attr-defined]
