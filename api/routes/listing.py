"""List memories by filter: v3, and the shapes that older clients know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from api.answer import Answer
from api.auth import Reader
from api.openapi import BODY, failures, unscoped_list
from api.paging import MAX_PAGE, Envelope, PageQuery, SizeQuery, envelope, window
from api.parts import parts_of
from api.path_parameters import EntityType
from api.query_values import json_object, words
from api.render import memory_object
from api.routing import ApiRoute
from api.schemas.listing import Listing
from core.domain.errors import MemlaneError
from core.domain.narrowing import Narrowing
from core.domain.paging import MAX_PAGE_SIZE
from core.domain.scope import ENTITY_FIELDS, ENTITY_TYPES
from core.ports.identity import Identity
from core.services.listing import ListQuery, MemoryPage, list_memories

router = APIRouter(route_class=ApiRoute, tags=["memories"])

Until = Annotated[int | None, Query(ge=0, le=2**63 - 1, description="From `next`: hides what was stored later.")]
LIST_BY_ENTITY_SIZE = 100


@router.post("/v3/memories/", response_model=Envelope, responses=failures(404, *BODY))
def get_memories(
    request: Request,
    identity: Reader,
    body: Listing,
    page: PageQuery = None,
    page_size: SizeQuery = None,
    until: Until = None,
) -> Answer:
    """Memories that match the filters, newest first, in pages. Repeat the body at `next`."""
    wanted = window(_first(page, body.page), _first(page_size, body.page_size))
    narrowed = {"narrowing": body.narrowing(), "as_of": body.moment()}
    found = _list(request, identity, body.filters, window=wanted, until=until, **narrowed)
    return Answer(_envelope(request, found, body.fields))


@router.post("/v2/memories/", deprecated=True, response_model=None, responses=failures(404, *BODY))
def get_memories_v2(
    request: Request, identity: Reader, body: Listing, page: PageQuery = None, page_size: SizeQuery = None
) -> Answer:
    """The same as a bare array, or in the envelope when page and page_size are both given."""
    number, size = _first(page, body.page), _first(page_size, body.page_size)
    narrowed = {"narrowing": body.narrowing(), "as_of": body.moment()}
    found = _list(request, identity, body.filters, window=window(number, size), **narrowed)
    return Answer(_shaped(request, found, body.fields, paged=bool(number and size)))


class ListingV1(BaseModel):
    """The query of the oldest list."""

    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None
    metadata: str | None = Field(None, description="A JSON object.")
    categories: list[str] | None = None
    fields: list[str] | None = None
    keywords: str | None = None
    start_date: str | None = None
    end_date: str | None = None
    page: int | None = Field(None, le=MAX_PAGE)
    page_size: int | None = None
    limit: int | None = Field(None, ge=1)

    def filters(self) -> dict[str, str]:
        return {field: value for field in ENTITY_FIELDS if (value := getattr(self, field))}

    def narrowing(self) -> Narrowing:
        return Narrowing(
            categories=words(self.categories),
            metadata=json_object("metadata", self.metadata),
            keywords=self.keywords,
            start_date=self.start_date,
            end_date=self.end_date,
        )


@router.get("/v1/memories/", deprecated=True, response_model=None, responses=unscoped_list())
def get_memories_v1(request: Request, identity: Reader, query: Annotated[ListingV1, Query()]) -> Answer:
    """By ids in the query: a bare array of at most `limit`, or the envelope with page and page_size."""
    filters = query.filters()
    if not filters:
        raise MemlaneError("filters_unscoped_v1_list")
    paged = bool(query.page and query.page_size)
    if query.limit is not None and query.limit > MAX_PAGE_SIZE and not paged:
        raise MemlaneError("limit_too_large")
    size = query.page_size if paged else query.limit or query.page_size
    found = _list(request, identity, filters, narrowing=query.narrowing(), window=window(query.page, size))
    return Answer(_shaped(request, found, words(query.fields) or None, paged=paged))


@router.get("/v1/memories/{entity_type:entitytype}/{name:segment}/", response_model=Envelope, responses=failures(404))
def get_memories_of_entity(
    request: Request, identity: Reader, entity_type: EntityType, name: str, page: PageQuery = None
) -> Answer:
    """Every memory that carries one user, agent, app or run, in pages of 100."""
    # `in` lifts the scope rule: whatever else the row carries
    filters = {ENTITY_TYPES[entity_type]: {"in": [name]}}
    found = _list(request, identity, filters, window=window(page, LIST_BY_ENTITY_SIZE))
    return Answer(_envelope(request, found, None))


def _list(request: Request, identity: Identity, filters: Any, **more: Any) -> MemoryPage:
    """`more`: the other fields of ListQuery."""
    parts = parts_of(request)
    now, strict = parts.runtime.clock.now(), parts.settings.strict_scoping
    return list_memories(parts.runtime.database, ListQuery(identity.project_id, filters, now, strict=strict, **more))


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)


def _envelope(request: Request, found: MemoryPage, fields: Sequence[str] | None) -> dict[str, Any]:
    return envelope(request, found, lambda memory: memory_object(memory, fields), until=found.until)


def _shaped(request: Request, found: MemoryPage, fields: Sequence[str] | None, *, paged: bool) -> Any:
    if paged:
        return _envelope(request, found, fields)
    return [memory_object(memory, fields) for memory in found.items]
