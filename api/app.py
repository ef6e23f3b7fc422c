"""The application factory: middleware, error handlers, routes and the OpenAPI document around one container."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio.to_thread
from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from starlette.middleware.cors import CORSMiddleware

from api import errors, openapi
from api.bounds import Bounds
from api.parts import Parts
from api.permits import SearchPermits
from api.routes import ROUTERS
from api.transport import CanonicalPath, WideLog
from api.waiting import Waiters

DOCS_ASSETS = "/docs-assets"
EXPOSED_HEADERS = (
    "ETag",
    "Idempotency-Replayed",
    "Retry-After",
    "Server-Timing",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-Request-Id",
)


def create_app(container: Parts) -> FastAPI:
    """The ASGI app over one composed process. The caller owns the container and closes it."""
    app = FastAPIOffline(  # its documentation pages need no network
        static_url=DOCS_ASSETS,
        title="Memlane",
        version=openapi.VERSION,
        description=openapi.DESCRIPTION,
        openapi_tags=openapi.TAGS,
        redirect_slashes=False,
        strict_content_type=False,  # a JSON body without Content-Type is read, see api.body
        generate_unique_id_function=openapi.operation_id,
        lifespan=_lifespan,
    )
    app.state.container = container
    app.state.waiters = Waiters()
    app.state.search_permits = SearchPermits(container.settings.search_permits)
    for router in ROUTERS:
        app.include_router(router)
    app.openapi = lambda: _documented(app)  # type: ignore[method-assign]
    errors.install(app)
    app.add_middleware(
        CORSMiddleware,
        allow_origins=["*"],
        allow_methods=["*"],
        allow_headers=["*"],
        expose_headers=EXPOSED_HEADERS,
        max_age=86_400,
    )
    app.add_middleware(CanonicalPath)
    app.add_middleware(Bounds)
    app.add_middleware(WideLog, telemetry=container.telemetry)
    return app


def _documented(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        app.openapi_schema = openapi.document(app)
    return app.openapi_schema


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """As many threads as database connections, so that no request waits for one while holding the other."""
    threads = app.state.container.settings.api_threads
    anyio.to_thread.current_default_thread_limiter().total_tokens = threads
    yield
    on_stop: Callable[[], None] | None = getattr(app.state, "on_stop", None)
    if on_stop is not None:
        on_stop()
