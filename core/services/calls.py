"""The calls that a worker's slots have out, each with its deadline: what is long past its own hangs.

Threads cannot be ended from outside. A call that ignores its deadline (a native library in an endless loop, a server
that sends a byte now and then) holds its slot and its lane for ever; only the end of the process frees them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar, cast

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    what: str
    due: float  # monotonic


class Calls:
    """Shared by the threads of a process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._numbers = count()
        self._out: dict[int, Call] = {}
        self._lock = threading.Lock()

    @contextmanager
    def within(self, what: str, seconds: float) -> Iterator[None]:
        """While inside, a call that should have ended after `seconds` is out."""
        number = next(self._numbers)
        with self._lock:
            self._out[number] = Call(what, self._clock() + seconds)
        try:
            yield
        finally:
            with self._lock:
                del self._out[number]

    def overdue(self, grace: float) -> str | None:
        """The call that is furthest past its deadline, if by more than `grace` seconds; in words."""
        with self._lock:
            oldest = min(self._out.values(), key=lambda call: call.due, default=None)
        late = self._clock() - oldest.due if oldest else 0.0
        return f"{oldest.what} is {late:.0f} s past its deadline" if oldest and late > grace else None


def watched(target: T, calls: Calls, seconds: Mapping[str, float]) -> T:
    """`target` with its methods named in `seconds` noted while they run; everything else of it as it is."""
    return cast(T, _Watched(target, calls, seconds))


class _Watched:
    def __init__(self, target: Any, calls: Calls, seconds: Mapping[str, float]) -> None:
        self._target = target
        self._calls = calls
        self._seconds = seconds

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        seconds = self._seconds.get(name)
        if seconds is None:
            return value

        def call(*args: Any, **more: Any) -> Any:
            with self._calls.within(f"{type(self._target).__name__}.{name}", seconds):
                return value(*args, **more)

        return call
