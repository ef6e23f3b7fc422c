"""Events: what became of each accepted request."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from api.answer import Answer
from api.auth import Reader, Writer
from api.openapi import failures
from api.paging import Envelope, PageQuery, SizeQuery, envelope, window
from api.parts import parts_of
from api.path_parameters import EventId
from api.routing import ApiRoute
from core.domain.errors import MemlaneError
from core.domain.events import EVENT_TYPES, WIRE_STATUS, EventFilter, EventState
from core.domain.render import event_object
from core.domain.scope import ENTITY_FIELDS
from core.services.read_events import list_events, read_event
from core.services.retry_event import retry_event

router = APIRouter(route_class=ApiRoute, tags=["events"])

Words = Annotated[list[str] | None, Query()]
Id = Annotated[str | None, Query()]


@router.get("/v1/event/{event_id:segment}/", responses=failures(404), response_model=dict[str, Any])
@router.get("/v1/events/{event_id:segment}/", include_in_schema=False)
@router.get("/event/{event_id:segment}", include_in_schema=False)
def get_event(request: Request, identity: Reader, event_id: EventId) -> Answer:
    """One event. `status` is PENDING, RUNNING, SUCCEEDED or FAILED.

    Once it reads SUCCEEDED, the next search and get return the memories of `results`.
    """
    return Answer(event_object(read_event(parts_of(request).runtime.database, identity.project_id, event_id)))


@router.get("/v1/events/", responses=failures(404), response_model=Envelope)
def get_events(
    request: Request,
    identity: Reader,
    page: PageQuery = None,
    page_size: SizeQuery = None,
    event_type: Words = None,
    status: Words = None,
) -> Answer:
    """The project's events, newest first; narrowed by type, status, user_id, agent_id, app_id or run_id."""
    ids = [(field, value) for field in ENTITY_FIELDS if (value := request.query_params.get(field))]
    narrowed = EventFilter(_types(event_type), _states(status), tuple(ids))
    found = list_events(parts_of(request).runtime.database, identity.project_id, narrowed, window(page, page_size))
    return Answer(envelope(request, found, event_object))


@router.post("/v1/event/{event_id:segment}/retry/", responses=failures(404, 409), response_model=dict[str, Any])
def post_retry(request: Request, identity: Writer, event_id: EventId) -> Answer:
    """Queue a failed event again, at the end of its lane. 409 when it has not failed or its payload is gone."""
    return Answer(event_object(retry_event(parts_of(request).runtime, identity.project_id, event_id)))


def _types(words: list[str] | None) -> tuple[str, ...]:
    wanted = _split(words)
    for word in wanted:
        if word not in EVENT_TYPES:
            raise MemlaneError("validation_failed", f"event_type is one of {', '.join(EVENT_TYPES)}.")
    return wanted


def _states(words: list[str] | None) -> tuple[EventState, ...]:
    wanted = _split(words)
    known = set(WIRE_STATUS.values())
    if not set(wanted) <= known:
        raise MemlaneError("validation_failed", f"status is one of {', '.join(sorted(known))}.")
    return tuple(state for state, status in WIRE_STATUS.items() if status in wanted)


def _split(words: list[str] | None) -> tuple[str, ...]:
    """Repeated parameters and comma-separated ones, in upper case."""
    return tuple(word.strip().upper() for item in words or () for word in item.split(",") if word.strip())
