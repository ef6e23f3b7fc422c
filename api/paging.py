"""The envelope of lists: how many, and absolute addresses of the pages around."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel
from starlette.requests import Request

from core.domain.errors import MemlaneError
from core.domain.paging import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, Page, Window

MAX_PAGE = 10_000_000

_FROM_0 = {"minimum": 0}  # `window` says it in the documented words
PageQuery = Annotated[
    int | None, Query(alias="page", le=MAX_PAGE, description="Counts from 1.", json_schema_extra=_FROM_0)
]
SizeQuery = Annotated[
    int | None,
    Query(
        alias="page_size",
        description=f"1 to {MAX_PAGE_SIZE}; more is read as {MAX_PAGE_SIZE}.",
        json_schema_extra=_FROM_0,
    ),
]


class Envelope(BaseModel):
    count: int
    next: str | None
    previous: str | None
    results: list[dict[str, Any]]


def window(page: int | None, size: int | None, default_size: int = DEFAULT_PAGE_SIZE) -> Window:
    """Missing and 0 mean the default (clients send `page=0&page_size=0`); a large size is clamped.

    Raises MemlaneError("page_invalid") for a negative page, "validation_failed" for a negative size.
    """
    if page is not None and not 0 <= page <= MAX_PAGE:
        raise MemlaneError("page_invalid")
    if size is not None and size < 0:
        raise MemlaneError("validation_failed", "page_size must not be negative.", pointer="page_size")
    return Window(page or 1, min(size or default_size, MAX_PAGE_SIZE))


def envelope(
    request: Request,
    page: Page[Any],
    render: Callable[[Any], dict[str, Any]],
    size_key: str = "page_size",
    **more: Any,
) -> dict[str, Any]:
    """`next` and `previous` repeat the request's own query, with `more`; a POST is repeated with the same body."""
    number = page.window.number

    def address(wanted: int) -> str:
        return str(request.url.include_query_params(page=wanted, **{size_key: page.window.size}, **more))

    return {
        "count": page.count,
        "next": address(number + 1) if page.has_next else None,
        "previous": address(number - 1) if page.has_previous else None,
        "results": [render(item) for item in page.items],
    }
