"""Adds accepted in the test's own process, and workers of their own for them."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from sqlalchemy import text

from core.adapters.celery_queue import CeleryQueue
from core.adapters.qdrant import QdrantIndex
from core.domain.scope import Scope
from core.services.accept import Request, accept
from core.services.runtime import Runtime
from tests.chaos.check import assert_consistent, assert_each_ended_once
from tests.chaos.cluster import Cluster, Part, wait_until
from tests.doubles.pipeline import Pipeline, Signals, make_pipeline

_UNSHOWN = text("SELECT count(*) FROM projections")


class Load:
    """Adds accepted in this process, as the API does it, with real wake-ups through the broker."""

    def __init__(self, place: Cluster) -> None:
        environment = place.environment
        self.place = place
        self.index = QdrantIndex(environment["MEMLANE_QDRANT_URL"], environment["MEMLANE_QDRANT_API_KEY"])
        self.signals = Signals()
        self.queue = CeleryQueue(environment["MEMLANE_BROKER_URL"], self.signals)
        self.pipeline: Pipeline = make_pipeline(place.url, self.index, "memlane")
        self.accepted: list[UUID] = []

    @property
    def runtime(self) -> Runtime:
        return replace(self.pipeline.runtime, queue=self.queue)

    def add(self, number: int, lanes: int = 20) -> None:
        payload = {"messages": [{"role": "user", "content": f"Fact number {number}"}], "infer": False}
        scope = Scope(user_id=f"user-{number % lanes}")
        self.accepted.append(accept(self.runtime, Request(self.pipeline.project, scope, payload)).event_id)

    def open_events(self) -> int:
        query = text("SELECT count(*) FROM events WHERE project_id = :p AND state NOT IN ('projected', 'failed')")
        with self.place.database.operations() as tx:
            return int(tx.connection.execute(query, {"p": self.pipeline.project}).scalar_one())

    def settle(self, stuck_after: float = 60.0) -> None:
        """Wait until every event has ended and the index shows it; fails when for `stuck_after` seconds none has."""
        left = self.open_events()
        while left:
            before = left
            wait_until(lambda before=before: self.open_events() < before, f"{left} events open", stuck_after)  # type: ignore[misc]
            left = self.open_events()
        wait_until(lambda: self.place.scalar(_UNSHOWN) == 0, "the index is brought up to date", stuck_after)

    def check(self) -> None:
        assert_each_ended_once(self.place.database, self.accepted)
        assert_consistent(self.place.database, self.index, "memlane_1")

    def close(self) -> None:
        self.queue.close()
        self.index.close()
        self.pipeline.database.close()


def running_worker(place: Cluster, name: str, **environment: str) -> Part:
    worker = place.worker(name, **environment)
    wait_until(lambda: place.beats(worker) or not worker.running, f"{name} beats")
    assert worker.running, worker.log.read_text()[-2000:]
    return worker
