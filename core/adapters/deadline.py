"""Total deadlines for HTTP clients whose own time-outs count per read.

A server that sends one byte a second satisfies every read time-out for ever. Here the call runs as a coroutine
on one background event loop and is cancelled as a whole: name resolution, connect, headers and body together.
The callers stay synchronous threads.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")
CLOSE_SECONDS = 2.0  # for closing a client's idle connections
_GRACE = 5.0  # seconds for the loop to unwind a cancelled call


class DeadlineLoop:
    """One event loop in one daemon thread, started by the first call (again after a fork)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0

    def run(self, call: Awaitable[T], seconds: float) -> T:
        """The call's result. Raises TimeoutError when it has not ended `seconds` from now."""
        future = asyncio.run_coroutine_threadsafe(_bounded(call, seconds), self._started())
        try:
            return future.result(seconds + _GRACE)
        except TimeoutError:
            future.cancel()
            raise

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._pid != os.getpid():
                self._loop = asyncio.new_event_loop()
                self._pid = os.getpid()
                threading.Thread(target=self._loop.run_forever, name="model-calls", daemon=True).start()
            return self._loop


async def _bounded(call: Awaitable[T], seconds: float) -> T:
    async with asyncio.timeout(seconds):
        return await call


MODEL_CALLS = DeadlineLoop()
