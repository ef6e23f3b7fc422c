"""The whole application for tests of routes: real PostgreSQL and index endpoint, a fast embedder, no broker.

Work is done when a test says so: `settle()` drains every lane in the test's own thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from api.app import create_app
from core.adapters.guarded_fetch import GuardedFetcher
from core.adapters.limits import LocalBuckets
from core.adapters.qdrant import QdrantIndex
from core.adapters.secret_box import FernetBox
from core.adapters.sql.database import PoolOptions, SqlDatabase
from core.adapters.system_clock import SystemClock
from core.domain.erasure import DELETE_USER
from core.domain.ids import new_id
from core.domain.webhook_policy import parse_schedule
from core.ports.extraction import Extraction, ExtractionRequest
from core.ports.models import ModelSet
from core.services.attempt import Executor
from core.services.authenticate import KeyAuthenticator
from core.services.collections import CollectionRegistry
from core.services.delete_all import DELETE_ALL
from core.services.drain import drain
from core.services.ingest import ingest
from core.services.issue_key import issue_key
from core.services.purge import purge
from core.services.rate_limit import SETTING, RateLimiter, limits_of
from core.services.runtime import Runtime
from core.services.webhooks import WebhookParts
from core.services.worker import Worker
from core.settings import Settings
from tests.api.doubles import Remembering
from tests.api.serving import Reply, Server, serving
from tests.doubles.fast import FastEmbedder

HANDLERS = {"ADD": ingest, DELETE_ALL: purge, DELETE_USER: purge}


class QuietQueue:
    """Counts wakes; `on_wake` stands for the worker where a test wants one."""

    def __init__(self) -> None:
        self.wakes: list[str] = []
        self.on_wake: Callable[[], None] | None = None

    def wake(self, queue: str = "ingest", key: str = "") -> None:
        self.wakes.append(key)
        if self.on_wake is not None:
            self.on_wake()

    def reachable(self) -> bool:
        return True

    def close(self) -> None:
        self.on_wake = None


class NothingFound:
    """An extractor for tests that add verbatim."""

    def extract(self, request: ExtractionRequest) -> Extraction:
        return Extraction([])


@dataclass
class Parts:
    settings: Settings
    runtime: Runtime
    authenticator: KeyAuthenticator
    telemetry: Remembering
    database: SqlDatabase
    webhooks: WebhookParts
    limiter: RateLimiter


@dataclass
class World:
    parts: Parts
    executor: Executor
    server: Server
    embedder: FastEmbedder
    queue: QuietQueue

    def settle(self) -> None:
        drain(self.executor)

    def project(self, name: str = "test", scopes: tuple[str, ...] = ("read", "write", "admin")) -> Caller:
        """A fresh project with a key of its own."""
        issued = issue_key(self.parts.database, name, scopes=scopes)
        return Caller(self, issued.project_id, issued.key)


@dataclass
class Caller:
    """Requests with one project's key."""

    world: World
    project_id: UUID
    key: str
    headers: dict[str, str] = field(default_factory=dict)

    def send(
        self, method: str, target: str, body: Any = None, headers: Mapping[str, str | None] | None = None
    ) -> Reply:
        merged = {"Authorization": f"Token {self.key}", **self.headers, **(headers or {})}
        return self.world.server.send(method, target, body, merged)

    def get(self, target: str) -> Any:
        return self.expect(200, "GET", target)

    def expect(self, status: int, method: str, target: str, body: Any = None) -> Any:
        reply = self.send(method, target, body)
        assert reply.status == status, (reply.status, reply.raw[:500])
        return reply.body

    def add(self, text: str, **more: Any) -> str:
        """Store one text verbatim and return the id of its memory."""
        [memory_id] = self.add_all([text], **more)
        return memory_id

    def add_all(self, texts: list[str], **more: Any) -> list[str]:
        messages = [{"role": "user", "content": text} for text in texts]
        body = {"messages": messages, "infer": False, "user_id": "u", **more}
        accepted = self.expect(200, "POST", "/v3/memories/add/", body)
        self.world.settle()
        event = self.get(f"/v1/event/{accepted['event_id']}/")
        assert event["status"] == "SUCCEEDED", event
        return [result["id"] for result in event["results"]]

    def points(self) -> dict[str, dict[str, Any]]:
        """The project's points in the index: id → payload."""
        runtime = self.world.parts.runtime
        found = runtime.index.scroll(runtime.collections.current().active, self.project_id)
        return {str(id_): payload for id_, payload in found}


@contextmanager
def world(database_url: str, index: QdrantIndex) -> Iterator[World]:
    settings = Settings(database_url=database_url, api_threads=8)
    database = SqlDatabase(database_url, PoolOptions(size=12))
    telemetry, queue, embedder = Remembering(), QuietQueue(), FastEmbedder()
    runtime = Runtime(
        database=database,
        index=index,
        models=ModelSet(embedder),
        extractor=NothingFound(),
        queue=queue,
        telemetry=telemetry,
        clock=SystemClock(),
        collections=CollectionRegistry(database, index, embedder, f"api_{new_id().hex}"),
    )
    webhooks = WebhookParts(FernetBox("test-key"), GuardedFetcher(), "loopback", parse_schedule("0"))
    own = limits_of(lambda project: runtime.projects.settings(database, project).get(SETTING), 0)
    limiter = RateLimiter(LocalBuckets(), own)
    parts = Parts(settings, runtime, KeyAuthenticator(database, telemetry), telemetry, database, webhooks, limiter)
    executor = Executor(Worker(runtime, "ingest", 2), HANDLERS)
    with serving(create_app(parts)) as server:
        yield World(parts, executor, server, embedder, queue)
    database.close()


def until(fact: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait for a fact that another thread brings about."""
    ends = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < ends, "it did not come true in time"
