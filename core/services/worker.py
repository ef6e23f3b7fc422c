"""The state of one worker process: which leases it holds, whether it is stopping, who may run beside whom."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from core.ports.database import PASSING, LaneRef
from core.services.gate import Gate
from core.services.runtime import Runtime


class Worker:
    """Shared by the slots (threads) of a process. A slot works on one lane at a time."""

    def __init__(self, runtime: Runtime, kind: str, slots: int) -> None:
        self.runtime = runtime
        self.kind = kind
        self.name = f"{kind}@{socket.gethostname()}:{os.getpid()}"
        self.gate = Gate()
        self.stopping = threading.Event()
        self._slots = threading.BoundedSemaphore(slots)
        self._lock = threading.Lock()
        self._held: dict[int, LaneRef] = {}
        self._working: dict[int, UUID] = {}
        self._lost: set[int] = set()
        self._last_claim = time.monotonic()
        self.events_done = 0

    @contextmanager
    def slot(self) -> Iterator[bool]:
        """Gives False when all slots are taken: whoever holds them looks for work again before it leaves.

        The short wait is for a slot that has looked already and is just leaving.
        """
        free = self._slots.acquire(timeout=0.05)
        try:
            yield free
        finally:
            if free:
                self._slots.release()

    @contextmanager
    def holding(self, lane: LaneRef) -> Iterator[None]:
        """While inside, the heartbeat renews the lane's lease."""
        fence = lane.fence or 0
        with self._lock:
            self._held[fence] = lane
            self._last_claim = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(fence, None)
                self._working.pop(fence, None)
                self._lost.discard(fence)

    def working_on(self, lane: LaneRef, event_id: UUID) -> None:
        """Which event of the lane the slot works on, for the hand-back of a stopping process."""
        with self._lock:
            self._working[lane.fence or 0] = event_id

    def hand_back(self) -> int:
        """Give up every lane still held, uncounted; their slots can no longer commit. Raises DatabaseUnavailable."""
        with self._lock:
            held = [(lane, self._working.get(fence)) for fence, lane in self._held.items()]
        for lane, event_id in held:
            with self.runtime.database.transaction(lane.project_id) as tx:
                if tx.lanes.holds(lane) and event_id is not None:
                    tx.events.hand_back(lane, event_id)
            with self.runtime.database.operations() as tx:
                tx.lanes.let_go(lane)
            self.runtime.queue.wake("ingest", f"{lane.project_id}:{lane.lane_key}")
        return len(held)

    def lost(self, lane: LaneRef) -> bool:
        """True once a renewal has shown that another worker holds the lane."""
        return lane.fence in self._lost

    def beat(self) -> None:
        """Renew the leases held and the process's heartbeat. Raises DatabaseUnavailable."""
        with self._lock:
            fences = list(self._held)
        with self.runtime.database.operations() as tx:
            tx.ops.beat(self.name, self.kind, self.info())
            kept = tx.lanes.renew(self.name, fences, self.runtime.limits.lease_seconds) if fences else set()
        with self._lock:
            self._lost |= {fence for fence in fences if fence not in kept and fence in self._held}

    def beat_until_stopped(self) -> None:
        """The heartbeat thread: three beats a lease, at least one a second and a half."""
        period = min(self.runtime.limits.lease_seconds / 3, 1.5)
        while not self.stopping.wait(period):
            try:
                self.beat()
            except PASSING as error:
                self.runtime.telemetry.emit("process", part=self.kind, change="heartbeat_failed", detail=str(error))

    def info(self) -> dict[str, Any]:
        idle = time.monotonic() - self._last_claim
        return {"pid": os.getpid(), "held": len(self._held), "done": self.events_done, "idle_s": round(idle, 1)}

    def busy(self) -> int:
        """Lanes being worked on."""
        return len(self._held)

    def wait_idle(self, seconds: float) -> bool:
        """Wait until no lane is being worked on; True when that came within `seconds`."""
        ends = time.monotonic() + seconds
        while self.busy() and time.monotonic() < ends:
            time.sleep(0.05)
        return not self.busy()
