"""A process-wide gate: an event that has lost a worker before runs alone, so that poison takes nobody along."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """Many may pass together; one that asks to be alone waits for the others and holds them off."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._alone = False
        self._waiting = 0

    @contextmanager
    def passing(self, *, alone: bool) -> Iterator[None]:
        self._enter(alone)
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._alone = False
                self._changed.notify_all()

    def _enter(self, alone: bool) -> None:
        with self._changed:
            if alone:
                self._waiting += 1
                self._changed.wait_for(lambda: self._inside == 0)
                self._waiting -= 1
                self._alone = True
            else:
                self._changed.wait_for(lambda: not self._alone and not self._waiting)
            self._inside += 1
