"""The route class of every authenticated endpoint: who calls, then what they send, then the route's own code."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, get_args, get_origin
from urllib.parse import quote, unquote

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response

from api.auth import key_of
from api.body import check_media_type, parse_object, read_body
from api.errors import invalid
from api.parts import Parts
from core.domain.errors import MemlaneError
from core.ports.identity import Authenticator, Identity
from core.services.rate_limit import RateLimiter

# Two values of one of these would be a question of who reads which, also on routes that do not declare them.
SINGLE_VALUED = (
    "user_id",
    "agent_id",
    "app_id",
    "run_id",
    "page",
    "page_size",
    "limit",
    "filters",
    "metadata",
    "delete_linked",
)


class SegmentConvertor(Convertor[str]):
    """One path segment; `api.transport.CanonicalPath` leaves only `%` and `/` encoded in it."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        return unquote(value)

    def to_string(self, value: str) -> str:
        return quote(value, safe="")


class EntityTypeConvertor(SegmentConvertor):
    """One of the four entity types, so that `user/history` is a user and `<id>/history` a history."""

    regex = "user|agent|app|run"


class MemoryIdConvertor(SegmentConvertor):
    """Any segment but the fixed names beside the ids, so that a wrong method on one of those is 405."""

    regex = "(?!(?:events|search)/)[^/]+"


register_url_convertor("segment", SegmentConvertor())
register_url_convertor("memoryid", MemoryIdConvertor())
register_url_convertor("entitytype", EntityTypeConvertor())


class StrictRequest(Request):
    """A request whose JSON was read by `api.body`; the framework's lenient reader never runs."""

    def __init__(self, request: Request, raw: bytes, parsed: dict[str, Any] | None) -> None:
        super().__init__(request.scope, request.receive)
        self._raw = raw
        self._parsed = parsed

    async def body(self) -> bytes:
        return self._raw

    async def json(self) -> Any:
        return self._parsed


class ApiRoute(APIRoute):
    """Authenticates before the body is read, reads it strictly, and names faults in the catalogue's terms."""

    validation_code = "validation_failed"

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        reads_body = self.body_field is not None
        template = self.path_format
        single = tuple(dict.fromkeys((*SINGLE_VALUED, *_single_valued(self.dependant.query_params))))

        async def handler(request: Request) -> Response:
            request.state.route = template
            key = key_of(request.headers)
            container: Parts = request.app.state.container
            request.state.identity = await _identify(container.authenticator, key)
            await _count(request, container.limiter)
            _refuse_repeated(request, single)
            if reads_body:
                request = await _read(request, container.settings.max_body_bytes)
            try:
                return await handle(request)
            except RequestValidationError as error:
                raise invalid(error, self.validation_code) from None

        return handler


class AddRoute(ApiRoute):
    """The add endpoints document a body shape of their own for bad input."""

    validation_code = "add_invalid"


async def _identify(authenticator: Authenticator, key: str) -> Identity:
    identity = authenticator.remembered(key) or await run_in_threadpool(authenticator.authenticate, key)
    if identity is None:
        raise MemlaneError("unauthenticated")
    return identity


async def _count(request: Request, limiter: RateLimiter) -> None:
    """Raises MemlaneError("rate_limited"). `api.transport.WideLog` writes the headers, whatever the answer."""
    identity = request.state.identity
    allowed = limiter.spend(identity)
    if allowed is None:
        allowed = await run_in_threadpool(limiter.fetch, identity)
    request.state.allowance = allowed
    if allowed.retry_after is not None:
        raise MemlaneError("rate_limited", retry_after=allowed.retry_after)


async def _read(request: Request, limit: int) -> StrictRequest:
    check_media_type(request.headers.get("content-type"), request.headers.get("content-encoding"))
    raw = await read_body(request, limit)
    return StrictRequest(request, raw, parse_object(raw))


def _single_valued(parameters: Sequence[Any]) -> Iterator[str]:
    """The query parameters of a route that are no lists; a model in the query stands for its fields."""
    for parameter in parameters:
        annotation = parameter.field_info.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            fields = annotation.model_fields.items()
            yield from (field.alias or name for name, field in fields if not _takes_many(field.annotation))
        elif not _takes_many(annotation):
            yield parameter.alias


def _takes_many(annotation: Any) -> bool:
    """Whether a parameter is a list, also an optional one."""
    return get_origin(annotation) is list or any(map(_takes_many, get_args(annotation)))


def _refuse_repeated(request: Request, single: Sequence[str]) -> None:
    for name in single:
        if len(request.query_params.getlist(name)) > 1:
            raise MemlaneError("parameter_repeated", f"The query parameter '{name}' is given twice.", pointer=name)
