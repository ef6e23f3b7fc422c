"""Back-pressure: a project with too many open events is asked to come again later (429), others are not touched."""

from __future__ import annotations

import math
import threading
import time
from uuid import UUID

from core.domain.errors import MemlaneError
from core.ports.database import Database

_FRESH_SECONDS = 1.0
_WINDOW_SECONDS = 60.0


class Pressure:
    """One process's view of each project's backlog, counted with a LIMIT at most once a second."""

    def __init__(self, database: Database, most: int) -> None:
        self._database = database
        self._most = most
        self._lock = threading.Lock()
        self._seen: dict[UUID, tuple[float, int]] = {}  # project → (when, open events)

    def check(self, project_id: UUID) -> None:
        """Raises MemlaneError("too_many_open_events") with Retry-After = backlog / drain rate, 1 to 60 s."""
        now = time.monotonic()
        with self._lock:
            at, backlog = self._seen.get(project_id, (-math.inf, 0))
        if now - at > _FRESH_SECONDS:
            with self._database.operations() as tx:
                backlog = tx.ops.open_events(project_id, self._most + 1)
            self._remember(project_id, now, backlog)
        if backlog > self._most:
            raise MemlaneError("too_many_open_events", retry_after=self._wait(project_id, backlog))

    def _remember(self, project_id: UUID, now: float, backlog: int) -> None:
        with self._lock:
            if len(self._seen) > 10_000:  # many projects: forget the idle ones
                self._seen = {key: seen for key, seen in self._seen.items() if now - seen[0] <= _FRESH_SECONDS}
            self._seen[project_id] = (now, backlog)

    def _wait(self, project_id: UUID, backlog: int) -> int:
        with self._database.operations() as tx:
            ended = tx.ops.ended_events(project_id, _WINDOW_SECONDS)
        rate = max(ended / _WINDOW_SECONDS, backlog / 60.0)
        return max(1, min(60, math.ceil(backlog / rate)))
