"""A pipeline in the test's own process: real PostgreSQL and index, a scripted extractor, no Celery."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.adapters.sql.database import PoolOptions, SqlDatabase
from core.adapters.system_clock import SystemClock
from core.domain.erasure import DELETE_USER
from core.domain.ids import new_id
from core.domain.memory import Candidate, Memory
from core.domain.project import Project
from core.domain.scope import Scope
from core.ports.extraction import Extraction, ExtractionRequest
from core.ports.index import VectorIndex
from core.ports.models import Embedder, ModelSet
from core.services.accept import Request, accept
from core.services.attempt import Executor
from core.services.collections import CollectionRegistry
from core.services.delete_all import DELETE_ALL
from core.services.drain import drain
from core.services.erase import erase_job
from core.services.ingest import ingest
from core.services.purge import purge
from core.services.runtime import Limits, Runtime
from core.services.worker import Worker
from tests.doubles.fast import FastEmbedder


class ScriptedExtractor:
    """Each user turn becomes a candidate, unless `script` says what comes of a request."""

    def __init__(self) -> None:
        self.script: Callable[[ExtractionRequest], Sequence[Candidate]] | None = None
        self.requests: list[ExtractionRequest] = []

    def extract(self, request: ExtractionRequest) -> Extraction:
        self.requests.append(request)
        if self.script is not None:
            return Extraction(list(self.script(request)))
        return Extraction([Candidate(t.text, source_turns=(t.index,)) for t in request.turns if t.role == "user"])


class Wakes:
    """The queue's twin: notes who was woken."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def wake(self, queue: str = "ingest", key: str = "") -> None:
        self.keys.append(key)

    def reachable(self) -> bool:
        return True

    def close(self) -> None: ...


class Signals:
    """The telemetry's twin: keeps what was emitted."""

    def __init__(self) -> None:
        self.emitted: list[tuple[str, dict[str, Any]]] = []

    def emit(self, name: str, **fields: Any) -> None:
        self.emitted.append((name, fields))

    def named(self, name: str) -> list[dict[str, Any]]:
        return [fields for emitted, fields in self.emitted if emitted == name]


@dataclass
class Pipeline:
    runtime: Runtime
    database: SqlDatabase
    project: UUID
    extractor: ScriptedExtractor
    wakes: Wakes
    signals: Signals
    workers: list[Worker] = field(default_factory=list)

    def add(self, content: str | list[dict[str, Any]], user: str = "ann", **payload: Any) -> UUID:
        messages = [{"role": "user", "content": content}] if isinstance(content, str) else content
        scope = payload.pop("scope", Scope(user_id=user))
        return accept(self.runtime, Request(self.project, scope, {"messages": messages, **payload})).event_id

    def executor(self, slots: int = 4) -> Executor:
        self.workers.append(Worker(self.runtime, "ingest", slots))
        return Executor(self.workers[-1], {"ADD": ingest, DELETE_ALL: purge, DELETE_USER: erase_job})

    def drain(self) -> int:
        return drain(self.executor())

    def drain_all(self) -> None:
        """Also what a drain has made due, such as the job of a deletion."""
        while self.drain():
            pass

    def event(self, event_id: UUID) -> Any:
        with self.database.operations() as tx:
            return tx.connection.execute(text("SELECT * FROM events WHERE id = :id"), {"id": event_id}).one()

    def memories(self, where: str = "state = 'active'") -> list[Any]:
        query = text(f"SELECT * FROM memories WHERE project_id = :project AND {where} ORDER BY stored_seq")
        with self.database.operations() as tx:
            return list(tx.connection.execute(query, {"project": self.project}))

    def count(self, table: str) -> int:
        with self.database.operations() as tx:
            query = text(f"SELECT count(*) FROM {table} WHERE project_id = :project")
            return int(tx.connection.execute(query, {"project": self.project}).scalar_one())

    def indexed(self) -> set[UUID]:
        collection = self.runtime.collections.current().active
        return {id_ for id_, _ in self.runtime.index.scroll(collection, self.project)}

    def stored(self, ids: Sequence[UUID]) -> list[Memory]:
        with self.database.transaction(self.project) as tx:
            return tx.memories.by_ids(self.project, ids)


def make_pipeline(
    url: str, index: VectorIndex, prefix: str, embedder: Embedder | None = None, limits: Limits | None = None
) -> Pipeline:
    """A runtime over a migrated database and an index, with a fresh project."""
    database = SqlDatabase(url, PoolOptions(size=16))
    models = ModelSet(embedder or FastEmbedder())
    extractor, wakes, signals = ScriptedExtractor(), Wakes(), Signals()
    runtime = Runtime(
        database=database,
        index=index,
        models=models,
        extractor=extractor,
        queue=wakes,
        telemetry=signals,
        clock=SystemClock(),
        collections=CollectionRegistry(database, index, models.embedder, prefix),
        limits=limits or Limits(),
    )
    org, project, now = new_id(), new_id(), datetime.now(UTC)
    with database.operations() as tx:
        tx.projects.add_organization(org, "o", now)
        tx.projects.add_project(Project(project, org, "p", None, now, now))
    return Pipeline(runtime, database, project, extractor, wakes, signals)
