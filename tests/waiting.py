"""Waiting for a fact, with a limit; the only way tests wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_pause = threading.Event()


def wait_until(fact: Callable[[], T], seconds: float = 30.0, *, what: str = "") -> T:
    """The first true value of `fact`. Fails the test when none comes within `seconds`."""
    until = time.monotonic() + seconds
    while not (value := fact()):
        if time.monotonic() > until:
            raise AssertionError(f"not within {seconds:g} s: {what or fact}")
        _pause.wait(0.03)
    return value
