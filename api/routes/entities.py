"""Users, agents, apps and runs: listed while they have memories, deleted with all of them."""

from __future__ import annotations

from fastapi import APIRouter, Request

from api.answer import Answer
from api.auth import Reader, Writer
from api.openapi import failures
from api.paging import PageQuery, SizeQuery, envelope, window
from api.parts import parts_of
from api.path_parameters import EntityNumber, EntityType
from api.render import entity_object
from api.routes.bulk import IN_PROGRESS
from api.routing import ApiRoute
from api.schemas.answers import EntityList, EntityObject, Started
from api.source import source_of
from core.services.delete_entity import delete_entity
from core.services.list_entities import list_entities, read_entity, read_entity_by_number

router = APIRouter(route_class=ApiRoute, tags=["entities"])


@router.get("/v1/entities/", response_model=EntityList, responses=failures(404))
def get_entities(request: Request, identity: Reader, page: PageQuery = None, page_size: SizeQuery = None) -> Answer:
    """Entities that have memories; all of them unless `page` or `page_size` is given."""
    wanted = window(page, page_size) if page or page_size else None
    found = list_entities(parts_of(request).runtime.database, identity.project_id, wanted)
    totals = {f"total_{type_}s": number for type_, number in found.totals.items()}
    return Answer(envelope(request, found.page, entity_object) | totals)


@router.get(
    "/v2/entities/{entity_type:segment}/{name:segment}/", response_model=list[EntityObject], responses=failures(404)
)
def get_entity(request: Request, identity: Reader, entity_type: EntityType, name: str) -> Answer:
    """One entity, in an array."""
    database = parts_of(request).runtime.database
    return Answer([entity_object(read_entity(database, identity.project_id, entity_type, name))])


@router.delete("/v2/entities/{entity_type:segment}/{name:segment}/", response_model=Started, responses=failures(404))
def remove_entity(request: Request, identity: Writer, entity_type: EntityType, name: str) -> Answer:
    """Delete an entity with every memory that carries it. 200 again for one that was known, 404 for others."""
    runtime = parts_of(request).runtime
    started = delete_entity(runtime, identity.project_id, entity_type, name, source_of(request))
    return Answer({"message": IN_PROGRESS, "event_id": str(started.event_id)})


@router.delete(
    "/v1/entities/{entity_type:segment}/{number:segment}/",
    deprecated=True,
    response_model=Started,
    responses=failures(404),
)
def remove_entity_v1(request: Request, identity: Writer, entity_type: EntityType, number: EntityNumber) -> Answer:
    """The same by the entity's numeric id."""
    runtime = parts_of(request).runtime
    entity = read_entity_by_number(runtime.database, identity.project_id, entity_type, number)
    started = delete_entity(runtime, identity.project_id, entity.type, entity.name, source_of(request))
    return Answer({"message": IN_PROGRESS, "event_id": str(started.event_id)})
