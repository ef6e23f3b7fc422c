"""For operators: is it up, can it work, what has it counted. No key; nothing here names a project."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from api.answer import Answer
from api.openapi import ErrorBody
from api.parts import Parts, parts_of
from core.adapters.metrics import CONTENT_TYPE, Metrics, Reading
from core.ports.database import DatabaseUnavailable
from core.services.readiness import CHECKS, OK, REQUIRED, Check
from core.services.runtime import Runtime

router = APIRouter(tags=["operation"])

CHECK_SECONDS = 2.0


class Health(BaseModel):
    status: str


class Readiness(BaseModel):
    status: str
    parts: dict[str, str]
    degraded: list[str]


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", response_model=Health)
async def healthz() -> Answer:
    """The process is up. Touches nothing, waits for nothing."""
    return Answer({"status": "ok"})


@router.get("/readyz", response_model=Readiness, responses={400: {"model": ErrorBody}, 503: {"model": Readiness}})
async def readyz(
    request: Request, all: Annotated[bool, Query(description="Require broker, index and a worker too.")] = False
) -> Answer:
    """200 if this process can accept adds; `degraded` lists the other parts that are not there."""
    runtime = parts_of(request).runtime
    found = await asyncio.gather(*(_within(check, runtime) for check in CHECKS.values()))
    parts = dict(zip(CHECKS, found, strict=True))
    missing = [name for name, word in parts.items() if word != OK]
    ready = not missing if all else not set(missing) & set(REQUIRED)
    status = "ready" if not missing else "degraded" if ready else "not ready"
    body: dict[str, Any] = {"status": status, "parts": parts, "degraded": missing}
    return Answer(body, 200 if ready else 503, None if ready else {"Retry-After": "1"})


async def _within(check: Check, runtime: Runtime) -> str:
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return await run_in_threadpool(check, runtime)
    except TimeoutError:
        return f"no answer within {CHECK_SECONDS:g} s"


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def metrics(request: Request) -> Response:
    """Counters of this process and the state of the queue, in the Prometheus text format."""
    parts = parts_of(request)
    counted = getattr(parts.telemetry, "metrics", None) or Metrics()
    return Response(counted.render(_readings(parts)), media_type=CONTENT_TYPE)


def _readings(parts: Parts) -> list[Reading]:
    """Figures of the moment; none but `up` when the database is away."""
    try:
        with parts.runtime.database.operations() as tx:
            backlog = tx.ops.backlog()
            alive = tx.ops.alive(10.0)
    except DatabaseUnavailable:
        return [Reading("database_up", "Whether PostgreSQL answers.", 0)]
    kinds = [row.kind for row in alive]
    return [
        Reading("database_up", "Whether PostgreSQL answers.", 1),
        Reading("due_events", "Events that are due now.", float(backlog.open)),
        Reading("oldest_due_event_seconds", "Waiting time of the oldest due event.", float(backlog.oldest or 0)),
        *(
            Reading("workers", "Worker processes alive, by kind.", kinds.count(kind), {"kind": kind})
            for kind in sorted(set(kinds))
        ),
    ]


@router.get("/", include_in_schema=False)
async def root() -> RedirectResponse:
    """A browser lands on the documentation."""
    return RedirectResponse("docs")
