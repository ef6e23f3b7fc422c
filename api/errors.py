"""Exceptions become answers here and nowhere else: always JSON, in the catalogue's shape, never with the input."""

from __future__ import annotations

import logging

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from api.answer import Answer
from api.faults import first_fault
from core.domain.errors import MemlaneError
from core.ports.database import DatabaseUnavailable, TransactionConflict
from core.ports.index import IndexUnavailable
from core.ports.models import ModelError

log = logging.getLogger("memlane.api")

DEFAULT_RETRY_AFTER = 1  # seconds; every 503 says when to come back


def respond(error: MemlaneError) -> Answer:
    headers: dict[str, str] = {}
    if error.status == 401:
        headers["WWW-Authenticate"] = 'Token realm="memlane", Bearer realm="memlane"'
    if error.status in (429, 503):
        headers["Retry-After"] = str(error.retry_after or DEFAULT_RETRY_AFTER)
    if error.status == 408:
        headers["Connection"] = "close"  # what is still to come of the body would be read as the next request
    return Answer(error.as_body(), error.status, headers)


def invalid(error: RequestValidationError, code: str = "validation_failed") -> MemlaneError:
    """A catalogue error out of pydantic's: the first fault, with its place and without its input."""
    fault = first_fault(error.errors(), error.body)
    return MemlaneError(code, f"Invalid input data. Please refer to /docs. {fault}", pointer=fault.pointer or None)


def install(app: FastAPI) -> None:
    """Register the handlers of everything that a route or the framework may raise."""
    app.add_exception_handler(MemlaneError, _memlane_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_exception)
    app.add_exception_handler(DatabaseUnavailable, _database_unavailable)
    app.add_exception_handler(TransactionConflict, _database_unavailable)
    app.add_exception_handler(IndexUnavailable, _index_unavailable)
    app.add_exception_handler(ModelError, _model_error)
    app.add_exception_handler(ClientDisconnect, _client_disconnect)
    app.add_exception_handler(Exception, _unexpected)


def _answer(request: Request, error: MemlaneError) -> Answer:
    request.state.error_code = error.code
    return respond(error)


async def _memlane_error(request: Request, error: Exception) -> Answer:
    assert isinstance(error, MemlaneError)
    return _answer(request, error)


async def _validation_error(request: Request, error: Exception) -> Answer:
    assert isinstance(error, RequestValidationError)
    return _answer(request, invalid(error))


async def _http_exception(request: Request, error: Exception) -> Answer:
    """The framework's own 404 and 405."""
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "invalid_request")
    answer = _answer(request, MemlaneError(code))
    if error.status_code == 405:
        answer.headers["Allow"] = ", ".join(sorted(_allowed_methods(request)))
    return answer


def _allowed_methods(request: Request) -> set[str]:
    """Methods of all routes on this path; the framework's own header names one route only."""
    allowed = {"OPTIONS"}
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        scope = {**request.scope, "method": method}
        if any(route.matches(scope)[0].value == 2 for route in request.app.router.routes):
            allowed.add(method)
    return allowed


async def _database_unavailable(request: Request, error: Exception) -> Answer:
    log.warning("database unavailable: %s", type(error.__cause__ or error).__name__)
    return _answer(request, MemlaneError("database_unavailable"))


async def _index_unavailable(request: Request, error: Exception) -> Answer:
    assert isinstance(error, IndexUnavailable)
    log.warning("index unavailable: %s", type(error.__cause__ or error).__name__)
    return _answer(request, MemlaneError(error.code))


async def _model_error(request: Request, error: Exception) -> Answer:
    assert isinstance(error, ModelError)
    log.warning("model unavailable: %s", error.code)
    retry_after = max(1, round(error.retry_after)) if error.retry_after else None
    return _answer(request, MemlaneError("embedder_unavailable", retry_after=retry_after))


async def _client_disconnect(request: Request, error: Exception) -> Answer:
    return _answer(request, MemlaneError("invalid_request", "The connection closed before the body was complete."))


async def _unexpected(request: Request, error: Exception) -> Answer:
    """A bug. The framework raises it again for the server's log; the answer says only where to look."""
    request_id = getattr(request.state, "request_id", None)
    answer = _answer(request, MemlaneError("internal", request_id=request_id))
    answer.headers["X-Request-Id"] = str(request_id)
    answer.headers["Access-Control-Allow-Origin"] = "*"
    return answer
