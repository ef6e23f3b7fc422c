"""Threads that work in rounds outlive a round in which the database was away, or a lock did not come in time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from core.ports.database import DatabaseUnavailable, TransactionConflict
from core.services.deliver import Courier
from core.services.runtime import Limits
from core.services.worker import Worker
from tests.doubles.pipeline import Signals
from workers import process

_ROUNDS = 3


class Rounds:
    """Fails in every round, and asks to stop in the third."""

    def __init__(self, error: Exception) -> None:
        self.runtime: Any = SimpleNamespace(telemetry=Signals(), limits=Limits(lease_seconds=0.003))
        self.worker = Worker(self.runtime, "ingest", 1)
        self.number = 0
        self._error = error

    def fail(self, *_: object) -> int:
        self.number += 1
        if self.number == _ROUNDS:
            self.worker.stopping.set()
        raise self._error

    @property
    def executor(self) -> Any:
        return SimpleNamespace(worker=self.worker)


def heartbeat(rounds: Rounds, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rounds.worker, "beat", rounds.fail)
    rounds.worker.beat_until_stopped()


def sweep(rounds: Rounds, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(process, "sweep", rounds.fail)
    patch.setattr(process, "drain", lambda _: 0)
    with ThreadPoolExecutor(1) as pool:
        process._sweep(rounds.executor, pool, 0.001, 1)


def categorize(rounds: Rounds, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(process, "categorize_due", rounds.fail)
    process._categorize(rounds.worker, 0.001)


def courier(rounds: Rounds, patch: pytest.MonkeyPatch) -> None:
    sending = Courier(rounds.runtime, SimpleNamespace())  # type: ignore[arg-type]
    patch.setattr(sending, "dispatch", rounds.fail)
    sending.run(rounds.worker.stopping, 0.001)


def drains(rounds: Rounds, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(process, "drain", rounds.fail)
    while not rounds.worker.stopping.is_set():
        process.drain_quietly(rounds.executor)


@pytest.mark.parametrize(
    "error", [DatabaseUnavailable("away"), TransactionConflict("lock timeout")], ids=["away", "lock"]
)
@pytest.mark.parametrize("loop", [heartbeat, sweep, categorize, courier, drains])
def test_a_round_that_fails_is_told_and_the_next_one_comes(
    loop: Callable[[Rounds, pytest.MonkeyPatch], None], error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = Rounds(error)
    thread = threading.Thread(target=loop, args=(rounds, monkeypatch))
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    assert rounds.number == _ROUNDS
    assert len(rounds.runtime.telemetry.emitted) == _ROUNDS
