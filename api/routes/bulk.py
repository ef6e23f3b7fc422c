"""Many memories at once: delete by selection, batch update, batch delete."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from api.answer import Answer
from api.auth import Writer
from api.openapi import BODY, failures
from api.parts import parts_of
from api.query_values import json_object
from api.routing import ApiRoute
from api.schemas.answers import Message, Started
from api.schemas.memories import BatchDelete, BatchUpdate
from api.source import source_of
from core.domain.errors import MemlaneError
from core.domain.scope import ENTITY_FIELDS, MAX_ENTITY_ID
from core.domain.selection import Selection
from core.services.change import memory_id
from core.services.change_batch import MAX_BATCH, Item, delete_batch, update_batch
from core.services.delete_all import Deletion, delete_all
from core.services.update_memory import Change

router = APIRouter(route_class=ApiRoute, tags=["memories"])

IN_PROGRESS = "Delete in progress. This may take some time."
Id = Annotated[str | None, Query(description='An id, or "*" for every memory that carries one.')]
Written = Annotated[str | None, Query(description="A JSON object.")]


@router.delete("/v1/memories/", response_model=Started, responses=failures())
def delete_memories(
    request: Request,
    identity: Writer,
    user_id: Id = None,
    agent_id: Id = None,
    app_id: Id = None,
    run_id: Id = None,
    metadata: Written = None,
    filters: Written = None,
) -> Answer:
    """Delete every memory that matches all that is given; all four ids as "*" empty the project."""
    given = {"user_id": user_id, "agent_id": agent_id, "app_id": app_id, "run_id": run_id}
    selection = Selection(_ids(given), json_object("metadata", metadata), json_object("filters", filters))
    deletion = Deletion(identity.project_id, selection, source=source_of(request))
    started = delete_all(parts_of(request).runtime, deletion)
    return Answer({"message": IN_PROGRESS, "event_id": str(started.event_id)})


@router.put("/v1/batch/", response_model=Message, responses=failures(404, 409, *BODY))
def put_batch(request: Request, identity: Writer, body: BatchUpdate) -> Answer:
    """Update up to 1,000 memories, all of them or none."""
    if len(body.memories) > MAX_BATCH:
        raise MemlaneError("batch_update_too_large")
    items = [
        Item(_id_at(n, item.memory_id), Change(item.text, item.metadata)) for n, item in enumerate(body.memories)
    ]
    number = update_batch(parts_of(request).runtime, identity.project_id, items) if items else 0
    return Answer({"message": f"Successfully updated {number} memories"})


@router.delete("/v1/batch/", response_model=Message, responses=failures(404, *BODY))
def remove_batch(request: Request, identity: Writer, body: BatchDelete) -> Answer:
    """Delete up to 1,000 memories, all of them or none."""
    if len(body.memories) > MAX_BATCH:
        raise MemlaneError("batch_delete_too_large")
    ids = [_id_at(number, item.memory_id) for number, item in enumerate(body.memories)]
    deleted = delete_batch(parts_of(request).runtime, identity.project_id, ids) if ids else 0
    return Answer({"message": f"Successfully deleted {deleted} memories"})


def _id_at(number: int, written: str) -> Any:
    try:
        return memory_id(written)
    except MemlaneError as error:
        error.pointer = f"memories[{number}].memory_id"
        raise


def _ids(given: dict[str, str | None]) -> dict[str, str]:
    """An id that is there but empty would silently widen the deletion: it is refused."""
    for name, value in given.items():
        if value is not None and not (value.strip() and len(value) <= MAX_ENTITY_ID):
            raise MemlaneError("validation_failed", f"{name} must not be empty or too long.", pointer=name)
    return {name: given[name] or "" for name in ENTITY_FIELDS if given[name] is not None}
