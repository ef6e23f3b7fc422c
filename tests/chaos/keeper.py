"""Starts what has ended, at once and again and again, and remembers when what was there to work."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.chaos.cluster import Part

_LOOK_SECONDS = 0.03
_PAUSE_SECONDS = 0.2  # before a process that ended by itself is started again
_READY_SECONDS = 90.0  # after which a process that is not ready is ended, as a supervisor would


@dataclass
class Kept:
    """A process that has to run. `ready` says whether it does its work; asked only while it is starting."""

    kind: str
    part: Part
    ready: Callable[[], bool]
    is_ready: bool = False
    frozen: bool = False
    started: float = field(default_factory=time.monotonic)
    spare_until: float = 0.0
    life: float = 0.0  # seconds that it is let work, once ready, before it may be killed
    ended_itself: int = 0
    spells: list[tuple[float, float]] = field(default_factory=list)  # (from, to) of readiness, in the wall's time
    ready_since: float = 0.0
    killed: bool = False


class Keeper:
    """One thread looks after all; kills go through it, so that it knows which ends were meant."""

    def __init__(self, kept: list[Kept]) -> None:
        self.kept = kept
        self._lock = threading.RLock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="keeper", daemon=True)
        self.failure: BaseException | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()
        with self._lock:
            for kept in self.kept:
                self._close(kept)

    def all_ready(self) -> bool:
        return all(kept.is_ready and not kept.frozen for kept in self.kept)

    def may_end(self, kept: Kept) -> bool:
        return kept.is_ready and not kept.frozen and kept.part.running and time.monotonic() >= kept.spare_until

    def kill(self, kept: Kept, life: float) -> bool:
        """SIGKILL; False when it had ended by itself meanwhile. The next one lives `life` seconds at the least."""
        with self._lock:
            if not kept.part.running:
                return False
            kept.killed, kept.life = True, life
            self._close(kept)
            kept.part.kill()
            return True

    def freeze(self, kept: Kept) -> None:
        with self._lock:
            kept.frozen = True
            self._close(kept)
            kept.part.send(signal.SIGSTOP)

    def thaw(self, kept: Kept, pid: int) -> None:
        """Continue the process, where it still is the same."""
        with self._lock:
            if kept.frozen and kept.part.running and kept.part.pid == pid:
                kept.part.send(signal.SIGCONT)
                kept.ready_since = time.time()
                kept.is_ready = True
            kept.frozen = False

    def _keep(self) -> None:
        try:
            while not self._stopping.wait(_LOOK_SECONDS):
                for kept in self.kept:
                    self._look(kept)
        except Exception as error:  # noqa: BLE001 - raised again by the test
            self.failure = error

    def _look(self, kept: Kept) -> None:
        with self._lock:
            if not kept.part.running:
                self._start_again(kept)
                return
            if kept.is_ready or kept.frozen:
                return
        if kept.ready():
            with self._lock:
                kept.is_ready, kept.ready_since = True, time.time()
                kept.spare_until = time.monotonic() + kept.life
        elif time.monotonic() - kept.started > _READY_SECONDS:
            raise AssertionError(f"{kept.kind} was not ready within {_READY_SECONDS:.0f} s: {tail(kept)}")

    def _start_again(self, kept: Kept) -> None:
        """A process that ended by itself is counted, and waits a little: its reason may still be there."""
        self._close(kept)
        if not kept.killed and kept.part.process is not None:
            if time.monotonic() < kept.started + _PAUSE_SECONDS:
                return
            kept.ended_itself += 1
        kept.killed, kept.frozen, kept.started = False, False, time.monotonic()
        kept.part.start()

    def _close(self, kept: Kept) -> None:
        if kept.is_ready:
            kept.spells.append((kept.ready_since, time.time()))
        kept.is_ready = False


def tail(kept: Kept, characters: int = 1500) -> str:
    return kept.part.log.read_text(errors="replace")[-characters:]
