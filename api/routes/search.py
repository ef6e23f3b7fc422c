"""Search: v3, and the shapes that older clients know. Synchronous; never touches the queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request

from api.answer import Answer
from api.auth import Reader
from api.openapi import BODY, failures
from api.parts import parts_of
from api.permits import Permitted
from api.render import hit_object
from api.routing import ApiRoute
from api.schemas.answers import SearchAnswer
from api.schemas.search import Search, SearchBase, SearchV1
from core.ports.identity import Identity
from core.services.search import SearchQuery, SearchResult, search

router = APIRouter(route_class=ApiRoute, tags=["search"], dependencies=[Permitted])


@dataclass(frozen=True)
class Defaults:
    """What a version assumes where the body is silent."""

    top_k: int
    threshold: float


V3 = Defaults(top_k=20, threshold=0.1)
V2 = Defaults(top_k=10, threshold=0.3)
V1 = Defaults(top_k=10, threshold=0.0)


@router.post(
    "/v3/memories/search/", response_model=SearchAnswer, response_model_exclude_none=True, responses=failures(*BODY)
)
def search_memories(request: Request, identity: Reader, body: Search) -> Answer:
    """The memories that fit a query best, scores in (0, 1], descending. Off-topic queries find nothing."""
    body.require_ids_in_filters()
    found = _search(request, identity, body, V3)
    answer: dict[str, Any] = {"results": _hits(found, body)}
    if found.notice:
        answer["notice"] = found.notice
    return Answer(answer, headers=_timing(found))


@router.post("/v2/memories/search/", deprecated=True, response_model=None, responses=failures(*BODY))
def search_memories_v2(request: Request, identity: Reader, body: SearchBase) -> Answer:
    """The same as a bare array."""
    found = _search(request, identity, body, V2)
    return Answer(_hits(found, body), headers=_timing(found))


@router.post("/v1/memories/search/", deprecated=True, response_model=None, responses=failures(*BODY))
def search_memories_v1(request: Request, identity: Reader, body: SearchV1) -> Answer:
    """By top-level ids: a bare array, or `{results, relations}` for output_format v1.1."""
    found = _search(request, identity, body.model_copy(update={"filters": body.scope_filters()}), V1)
    hits = _hits(found, body)
    shape = {"results": hits, "relations": []} if body.output_format == "v1.1" else hits
    return Answer(shape, headers=_timing(found))


def _search(request: Request, identity: Identity, body: SearchBase, defaults: Defaults) -> SearchResult:
    parts = parts_of(request)
    query = SearchQuery(
        project_id=identity.project_id,
        text=body.query,
        filters=body.filters,
        now=parts.runtime.clock.now(),
        narrowing=body.narrowing(),
        top_k=defaults.top_k if body.top_k is None else body.top_k,
        threshold=defaults.threshold if body.threshold is None else body.threshold,
        rerank=bool(body.rerank),
        keyword_search=bool(body.keyword_search),
        reference_date=body.reference(),
        as_of=body.moment(),
        strict=parts.settings.strict_scoping,
    )
    return search(parts.runtime, query)


def _timing(found: SearchResult) -> dict[str, str]:
    """Where the time went, in milliseconds by stage, as browsers and `memlane bench` read it (W3C Server Timing)."""
    return {"Server-Timing": ", ".join(f"{stage};dur={ms:.2f}" for stage, ms in found.stages.items())}


def _hits(found: SearchResult, body: SearchBase) -> list[dict[str, Any]]:
    return [hit_object(hit, body.fields) for hit in found.hits]
