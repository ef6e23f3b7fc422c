"""Add: accepted at once, worked on by the workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from api.answer import Answer
from api.auth import Writer
from api.idempotency import idempotency_key
from api.openapi import BODY, failures
from api.parts import parts_of
from api.routing import AddRoute
from api.schemas.add import Add
from api.source import source_of
from core.domain.events import EventRecord
from core.domain.identity_keys import without_identity
from core.ports.identity import Identity
from core.services import accept as accepting
from core.services.context import refuse_too_long

router = APIRouter(route_class=AddRoute, tags=["memories"])

QUEUED = "Memory processing has been queued for background execution"
_MESSAGES = {
    "PENDING": QUEUED,
    "RUNNING": QUEUED,
    "SUCCEEDED": "Memories stored successfully",
    "FAILED": "Memories could not be stored",
}
IdempotencyKey = Annotated[str | None, Header(description="1 to 255 visible ASCII characters; kept for 24 hours.")]


class AddAnswer(BaseModel):
    message: str
    status: str = Field(description="PENDING, or with async_mode=false the event's status.")
    event_id: str
    results: list[dict[str, Any]] | None = None
    warnings: list[str] | None = None


@dataclass(frozen=True)
class Outcome:
    """What an add comes to for its caller: the answer's parts, and whether it repeats an earlier one."""

    event_id: str
    replayed: bool
    warnings: list[str]
    ended: EventRecord | None = None

    def body(self) -> dict[str, Any]:
        status = self.ended.status if self.ended else "PENDING"
        answer: dict[str, Any] = {"message": _MESSAGES[status], "status": status, "event_id": self.event_id}
        if self.ended and self.ended.ended:
            answer |= {"results": list(self.ended.results), "reason": self.ended.reason}
            if self.ended.error:
                answer["error"] = self.ended.error
        return answer | ({"warnings": self.warnings} if self.warnings else {})

    @property
    def headers(self) -> dict[str, str]:
        return {"Idempotency-Replayed": "true"} if self.replayed else {}


@router.post(
    "/v3/memories/add/", response_model=AddAnswer, response_model_exclude_none=True, responses=failures(422, *BODY)
)
async def add_memories(
    request: Request, identity: Writer, body: Add, idempotency_key: IdempotencyKey = None
) -> Answer:
    """Remember a conversation. Answers before the work is done; follow the event."""
    outcome = await _add(request, identity, body)
    return Answer(outcome.body(), headers=outcome.headers)


@router.post("/v1/memories/", deprecated=True, response_model=list[AddAnswer], responses=failures(422, *BODY))
async def add_memories_v1(
    request: Request, identity: Writer, body: Add, idempotency_key: IdempotencyKey = None
) -> Answer:
    """The same for old clients: a bare array, or `{results}` for output_format v1.1 with version v2."""
    outcome = await _add(request, identity, body)
    if outcome.ended and outcome.ended.ended:
        return Answer(outcome.body() | {"relations": []}, headers=outcome.headers)
    if body.output_format == "v1.1" and body.version == "v2":
        return Answer({"results": [outcome.body()], "relations": []}, headers=outcome.headers)
    return Answer([outcome.body()], headers=outcome.headers)


async def _add(request: Request, identity: Identity, body: Add) -> Outcome:
    parts = parts_of(request)
    wanted, warnings = _request_of(request, identity, body)
    if body.infer is not False:
        refuse_too_long(parts.runtime, body.texts())
    accepted = await run_in_threadpool(accepting.accept, parts.runtime, wanted)
    ended = None
    if body.async_mode is False:
        waiters = request.app.state.waiters
        ended = await waiters.wait(parts.runtime.database, identity.project_id, accepted.event_id)
    return Outcome(str(accepted.event_id), accepted.replayed, warnings, ended)


def _request_of(request: Request, identity: Identity, body: Add) -> tuple[accepting.Request, list[str]]:
    payload = body.payload()
    payload["metadata"], taken = without_identity(body.metadata or {})
    wanted = accepting.Request(
        project_id=identity.project_id,
        scope=body.scope(),
        payload=payload,
        source=source_of(request, body.source),
        idempotency_key=idempotency_key(request),
    )
    return wanted, [f"metadata.{key} was ignored: metadata cannot set identity" for key in taken]
