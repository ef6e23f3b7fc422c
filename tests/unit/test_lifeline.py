"""A part's niceness, for itself and for its session; the kernel's side is held in tests/launcher."""

from __future__ import annotations

import os
from typing import Any

import pytest

from deploy.local import lifeline


class _Autogroup:
    """/proc/self/autogroup of a kernel that answers each write with what comes next in `answers`."""

    def __init__(self, *answers: OSError | None) -> None:
        self._answers = list(answers)
        self.written: list[str] = []

    def write_text(self, niceness: str) -> int:
        self.written.append(niceness)
        answer = self._answers.pop(0)
        if answer is not None:
            raise answer
        return len(niceness)


@pytest.fixture
def nice(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What was asked of os.nice, which cannot be taken back and is not done here."""
    asked: list[int] = []
    monkeypatch.setattr(os, "nice", asked.append)
    monkeypatch.setattr(os, "getpriority", lambda which, who: 3 + sum(asked))
    monkeypatch.setattr(os, "getsid", lambda pid: os.getpid())
    monkeypatch.setattr(lifeline, "_AUTOGROUP_PAUSE", 0.001)
    return asked


BUSY = BlockingIOError("the last change was a moment ago")
MANY = [BUSY] * 100


@pytest.mark.parametrize(
    ("answers", "writes", "told"),
    [([None], 1, ""), ([BUSY, BUSY, None], 3, ""), ([FileNotFoundError()], 1, ""), (MANY, 20, "takes no niceness")],
    ids=["taken", "taken at the third try", "no autogroups", "never taken"],
)
def test_the_session_gets_the_niceness_too(
    nice: list[int], capsys: pytest.CaptureFixture[str], answers: list[Any], writes: int, told: str
) -> None:
    group: Any = _Autogroup(*answers)
    lifeline.lower_priority(15, group)
    assert nice == [15]
    assert group.written == ["18"] * writes
    assert told in capsys.readouterr().err


def test_the_session_of_somebody_else_is_left_alone(nice: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getsid", lambda pid: os.getpid() + 1)
    group: Any = _Autogroup()
    lifeline.lower_priority(15, group)
    assert (nice, group.written) == ([15], [])
