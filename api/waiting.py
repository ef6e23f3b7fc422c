"""`async_mode=false`: waiting for an event's end without holding a thread."""

from __future__ import annotations

import asyncio
from uuid import UUID

from starlette.concurrency import run_in_threadpool

from core.domain.events import EventRecord
from core.ports.database import Database
from core.services.read_events import read_event

MAX_WAITING = 64
LONGEST = 30.0  # seconds
FIRST_PAUSE, LAST_PAUSE, GROWTH = 0.05, 0.5, 1.5


class Waiters:
    """Counts who waits in this process; the 65th is answered at once with what is known."""

    def __init__(self) -> None:
        self._waiting = 0

    async def wait(self, database: Database, project_id: UUID, event_id: UUID) -> EventRecord:
        """The event at its end, or as it stands after 30 s."""
        if self._waiting >= MAX_WAITING:
            return await run_in_threadpool(read_event, database, project_id, str(event_id))
        self._waiting += 1
        try:
            return await self._poll(database, project_id, event_id)
        finally:
            self._waiting -= 1

    async def _poll(self, database: Database, project_id: UUID, event_id: UUID) -> EventRecord:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + LONGEST
        pause = FIRST_PAUSE
        while True:
            event = await run_in_threadpool(read_event, database, project_id, str(event_id))
            if event.ended or loop.time() + pause > deadline:
                return event
            await asyncio.sleep(pause)
            pause = min(pause * GROWTH, LAST_PAUSE)
