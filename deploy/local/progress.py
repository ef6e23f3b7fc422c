"""Whether ingest workers make progress: a process can live and do nothing, which its exit would never tell.

Stalled is a worker with a free slot that has claimed nothing for 10 s while an event that anybody could claim has
been due for longer. One whose slots are all inside their calls is busy, however long these take.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import psycopg

SECONDS = 10.0
_PERIOD = 5.0
_YOUNG = 30.0  # a process that has just started is still loading

_CLAIMABLE = f"""
SELECT EXISTS (
  SELECT FROM events e
  WHERE e.state IN ('accepted', 'claimed', 'retrying', 'committed') AND e.due_at < now() - interval '{SECONDS} s'
    AND NOT EXISTS (SELECT FROM leases l WHERE l.project_id = e.project_id AND l.lane_key = e.lane_key
                    AND l.expires_at > now() - interval '{SECONDS} s')
    AND NOT EXISTS (SELECT FROM events f WHERE f.project_id = e.project_id AND f.lane_key = e.lane_key
                    AND f.seq < e.seq AND f.state IN ('accepted', 'claimed', 'retrying', 'committed')
                    AND f.due_at > now() - interval '{SECONDS} s'))
"""
_WORKERS = """
SELECT (info->>'pid')::int, (info->>'held')::int,
       (info->>'idle_s')::float + extract(epoch FROM now() - seen_at)::float,
       extract(epoch FROM now() - started_at)::float
FROM heartbeats WHERE kind = 'ingest'
"""


@dataclass(frozen=True)
class WorkerState:
    """One heartbeat row; `idle` and `age` in seconds."""

    pid: int
    held: int
    idle: float
    age: float


def stalled(workers: list[WorkerState], slots: int) -> set[int]:
    """The pids that do not take what they could take, given that there is something to take."""
    return {w.pid for w in workers if w.held < slots and w.idle > SECONDS and w.age > _YOUNG}


class ProgressWatch:
    """Looks every five seconds; who is stalled at two looks in a row is handed to `restart`."""

    def __init__(self, database_url: str, slots: int, restart: Callable[[int], None]) -> None:
        self._url = database_url.replace("postgresql+psycopg://", "postgresql://", 1)
        self._slots = slots
        self._restart = restart
        self._suspects: set[int] = set()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(timeout=10)

    def look(self) -> None:
        """One look. Nothing is concluded while the database is away: nobody can claim then."""
        try:
            with psycopg.connect(self._url, connect_timeout=3, autocommit=True) as connection:
                found = self._stalled(connection)
        except psycopg.Error:
            found = set()
        for pid in found & self._suspects:
            self._restart(pid)
        self._suspects = found

    def _stalled(self, connection: psycopg.Connection) -> set[int]:
        connection.execute("SET statement_timeout = '3s'")
        row = connection.execute(_CLAIMABLE).fetchone()
        if row is None or not row[0]:
            return set()
        return stalled([WorkerState(*each) for each in connection.execute(_WORKERS).fetchall()], self._slots)

    def _run(self) -> None:
        while not self._stopping.wait(_PERIOD):
            self.look()
