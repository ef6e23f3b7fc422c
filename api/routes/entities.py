"""Users, agents, apps and runs: listed while they have memories, deleted with all of them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

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
from core.domain.erasure import Erasure
from core.domain.render import instant
from core.services.erase import Whom, erase, read_erasure
from core.services.list_entities import list_entities, read_entity, read_entity_by_number

router = APIRouter(route_class=ApiRoute, tags=["entities"])

KeepDerived = Annotated[
    bool, Query(description="Of a user: keep other entities' memories that came out of the user's conversations.")
]


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
def remove_entity(
    request: Request, identity: Writer, entity_type: EntityType, name: str, keep_derived: KeepDerived = False
) -> Answer:
    """Erase an entity with everything that carries it; adds accepted before do not bring it back.

    200 again for one that was known, 404 for others. `erasure_id` leads to the receipt.
    """
    whom = Whom(identity.project_id, entity_type, name, keep_derived, source_of(request))
    return Answer(_started(erase(parts_of(request).runtime, whom)))


@router.get("/v1/erasures/{erasure_id:segment}/", response_model=dict[str, Any], responses=failures(404))
def get_erasure(request: Request, identity: Reader, erasure_id: str) -> Answer:
    """The receipt of an erasure: what was removed, by kind. It names nobody."""
    erasure = read_erasure(parts_of(request).runtime, identity.project_id, erasure_id)
    times = {
        "created_at": instant(erasure.created_at),
        "done_at": instant(erasure.done_at) if erasure.done_at else None,
    }
    status = "done" if erasure.done_at else "in progress"
    return Answer({"erasure_id": str(erasure.id), "status": status, "receipt": erasure.receipt, **times})


def _started(erasure: Erasure) -> dict[str, Any]:
    return {"message": IN_PROGRESS, "event_id": str(erasure.event_id), "erasure_id": str(erasure.id)}


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
    whom = Whom(identity.project_id, entity.type, entity.name, source=source_of(request))
    return Answer(_started(erase(runtime, whom)))
