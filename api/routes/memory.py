"""One memory: get, update, revert, delete, history."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from pydantic import BaseModel

from api.answer import Answer
from api.auth import Reader, Writer
from api.etag import etag, expected_version
from api.openapi import BODY, failures
from api.paging import Envelope, PageQuery, envelope, window
from api.parts import parts_of
from api.path_parameters import MemoryId
from api.render import history_object, memory_object
from api.routing import ApiRoute
from api.schemas.answers import MemoryObject
from api.schemas.memories import Revert, Update
from core.domain.errors import MemlaneError
from core.services.change import Target, memory_id
from core.services.delete_memory import delete_memory
from core.services.read_memory import list_history, read_history, read_memory
from core.services.revert_memory import revert_memory
from core.services.update_memory import update_memory

router = APIRouter(route_class=ApiRoute, tags=["memories"])

IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        description="The ETag that the change is meant for.",
        json_schema_extra={"pattern": r'^(\*|(W/)?"[0-9]{1,9}")$'},
    ),
]
Limit = Annotated[int | None, Query(ge=1, le=200)]


class Deleted(BaseModel):
    message: str
    cascade_count: int | None = None


@router.get("/v1/memories/events/", response_model=Envelope, responses=failures(404))
def list_all_history(request: Request, identity: Reader, page: PageQuery = None, limit: Limit = None) -> Answer:
    """The history of all memories of the project, newest first."""
    found = list_history(parts_of(request).runtime.database, identity.project_id, window(page, limit))
    return Answer(envelope(request, found, history_object, size_key="limit"))


@router.get("/v1/memories/{id:memoryid}/history/", response_model=list[dict[str, Any]], responses=failures(404))
def get_history(request: Request, identity: Reader, id: MemoryId) -> Answer:
    """Every ADD, UPDATE and DELETE of one memory, oldest first."""
    entries = read_history(parts_of(request).runtime.database, identity.project_id, memory_id(id))
    return Answer([history_object(entry) for entry in entries])


@router.get("/v1/memories/{id:memoryid}/", response_model=MemoryObject, responses=failures(404))
def get_memory(request: Request, identity: Reader, id: MemoryId) -> Answer:
    """One memory, also when it has expired."""
    memory = read_memory(parts_of(request).runtime.database, identity.project_id, memory_id(id))
    return Answer(memory_object(memory), headers=etag(memory))


@router.put("/v1/memories/{id:memoryid}/", response_model=MemoryObject, responses=failures(404, 409, 412, *BODY))
def put_memory(request: Request, identity: Writer, id: MemoryId, body: Update, if_match: IfMatch = None) -> Answer:
    """Change text, metadata, time or expiration. Searchable when this answers."""
    target = Target(identity.project_id, memory_id(id), expected_version(if_match))
    memory = update_memory(parts_of(request).runtime, target, body.change())
    return Answer(memory_object(memory), headers=etag(memory))


@router.post(
    "/v1/memories/{id:memoryid}/revert/", response_model=MemoryObject, responses=failures(404, 409, 412, *BODY)
)
def post_revert(request: Request, identity: Writer, id: MemoryId, body: Revert, if_match: IfMatch = None) -> Answer:
    """Give a memory the content of one of its earlier versions, as a new version. Searchable when this answers."""
    target = Target(identity.project_id, memory_id(id), expected_version(if_match))
    memory = revert_memory(parts_of(request).runtime, target, body.version)
    return Answer(memory_object(memory), headers=etag(memory))


@router.delete(
    "/v1/memories/{id:memoryid}/",
    response_model=Deleted,
    response_model_exclude_none=True,
    responses=failures(404, 412),
)
def remove_memory(
    request: Request,
    identity: Writer,
    id: MemoryId,
    delete_linked: Annotated[bool, Query(description="Also the older memories that it replaced.")] = False,
    if_match: IfMatch = None,
) -> Answer:
    """Delete one memory; its history stays."""
    target = Target(identity.project_id, memory_id(id), expected_version(if_match))
    cascaded = delete_memory(parts_of(request).runtime, target, linked=delete_linked)
    body: dict[str, Any] = {"message": "Memory deleted successfully!"}
    return Answer(body | ({"cascade_count": cascaded} if delete_linked else {}))


@router.get("/v1/memories/{entity_type:segment}/{name:segment}/", include_in_schema=False)
def refuse_entity_type(identity: Reader, entity_type: str, name: str) -> Answer:
    """Neither a history nor one of the four entity types."""
    raise MemlaneError("entity_type_invalid_v1")
