"""What the OpenAPI document says beside the routes' own models: errors, tags, operation names."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field

from api.links import add_links


def _version() -> str:
    try:
        return version("memlane")
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "0"


VERSION = _version()
DESCRIPTION = """A self-hosted, asynchronous memory platform for AI agents.

`POST /v3/memories/add/` answers at once with `PENDING` and an `event_id`; workers extract, deduplicate, embed and
link; `GET /v1/event/{event_id}/` tells when the memories are searchable. Send `Authorization: Token <key>`.
Paths are served with and without the trailing slash. Unknown keys in bodies are ignored."""
TAGS = [
    {"name": "memories", "description": "Add, read, change and delete memories."},
    {"name": "search", "description": "Find memories by meaning, words and entities."},
    {"name": "events", "description": "What became of each accepted request."},
    {"name": "entities", "description": "Users, agents, apps and runs that memories belong to."},
    {"name": "projects", "description": "Settings of the key's project."},
    {"name": "operation", "description": "Health, readiness and metrics of this process."},
]


class ErrorBody(BaseModel):
    """`code` is stable; `detail` is for people; older keys (`error`, `message`, …) repeat it for old clients."""

    model_config = ConfigDict(extra="allow")

    detail: str
    code: str
    pointer: str | None = Field(None, description="Where in the request the fault is, e.g. messages[2].content.")


_TEXT = {
    400: "The request is not valid.",
    401: "No API key, or an unknown or revoked one.",
    403: "The API key lacks the needed scope.",
    404: "No such thing in this project.",
    408: "The body did not arrive in time.",
    409: "In conflict with what is stored.",
    412: "The memory has changed since the version in If-Match.",
    413: "The body is too large.",
    414: "The URL is too long.",
    415: "The body is not application/json.",
    422: "The Idempotency-Key was used with another body.",
    431: "The headers are too many or too long.",
    429: "Too many requests or open events; see Retry-After.",
    503: "A part of the system is down or busy; see Retry-After.",
}


def failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route: those every authenticated route may give, and the named ones."""
    return {
        status: {"model": ErrorBody, "description": _TEXT[status]}
        for status in sorted({400, 401, 403, 414, 429, 431, 503, *statuses})
    }


def unscoped_list() -> dict[int | str, dict[str, Any]]:
    """The oldest list answers a missing id with a bare array."""
    return failures(404) | {400: {"model": ErrorBody | list[str], "description": _TEXT[400]}}


BODY = (408, 413, 415)  # what a route that reads a body may answer besides


def document(app: FastAPI) -> dict[str, Any]:
    """The framework's document with links, and without the 422 that this API never gives for bad input."""
    made = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes, tags=app.openapi_tags
    )
    for item in made["paths"].values():
        for operation in item.values():
            if "HTTPValidationError" in str(operation["responses"].get("422")):
                del operation["responses"]["422"]
    for name in ("HTTPValidationError", "ValidationError"):
        made["components"]["schemas"].pop(name, None)
    add_links(made)
    return made


def operation_id(route: APIRoute) -> str:
    """`search_memories_v3`: the function's name, since each is unique."""
    return route.name
