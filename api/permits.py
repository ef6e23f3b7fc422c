"""Search permits: how many searches run at once in this process, taken before a thread is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from fastapi import Depends
from starlette.requests import Request

from core.domain.errors import MemlaneError

LONGEST_WAIT = 2.0  # seconds


class SearchPermits:
    """A bounded number of searches; those above it wait two seconds at most."""

    def __init__(self, number: int) -> None:
        self._free = asyncio.Semaphore(number)

    async def acquire(self) -> None:
        """Raises MemlaneError("search_busy")."""
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                await self._free.acquire()
        except TimeoutError:
            raise MemlaneError("search_busy", retry_after=1) from None

    def release(self) -> None:
        self._free.release()


async def _permitted(request: Request) -> AsyncIterator[None]:
    permits: SearchPermits = request.app.state.search_permits
    await permits.acquire()
    try:
        yield
    finally:
        permits.release()


# Given back when the route's function ends, not when a slow client has read the answer.
Permitted = Depends(_permitted, scope="function")
