"""A small process around the HTTP layer: one known key, telemetry that remembers, routes that echo."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from fastapi import APIRouter, FastAPI
from pydantic import BaseModel

from api.answer import Answer
from api.app import create_app
from api.auth import Reader, Writer
from api.routing import AddRoute, ApiRoute
from core.adapters.limits import LocalBuckets
from core.ports.identity import Identity
from core.services.rate_limit import RateLimiter
from core.settings import Settings

KEY = "m0-test-key"
READ_ONLY_KEY = "m0-read-only"
PROJECT = UUID("00000000-0000-7000-8000-000000000001")
ORGANIZATION = UUID("00000000-0000-7000-8000-000000000002")
HEADERS = {"Authorization": f"Token {KEY}"}


class OneKey:
    def remembered(self, key: str) -> Identity | None:
        return None

    def authenticate(self, key: str) -> Identity | None:
        scopes = {KEY: {"admin"}, READ_ONLY_KEY: {"read"}}.get(key)
        if scopes is None:
            return None
        return Identity(project_id=PROJECT, org_id=ORGANIZATION, key_id=PROJECT, scopes=frozenset(scopes))


class Remembering:
    """Telemetry that keeps its records; a record may come just after the answer it is about."""

    def __init__(self) -> None:
        self.records: list[tuple[str, dict[str, Any]]] = []
        self._changed = threading.Condition()

    def emit(self, name: str, **fields: Any) -> None:
        with self._changed:
            self.records.append((str(name), fields))
            self._changed.notify_all()

    def of_request(self, request_id: str) -> tuple[str, dict[str, Any]]:
        """The record of one request, waited for."""

        def found() -> list[tuple[str, dict[str, Any]]]:
            return [record for record in self.records if record[1].get("request_id") == request_id]

        with self._changed:
            assert self._changed.wait_for(found, timeout=10)
            return found()[0]


@dataclass
class FewParts:
    settings: Settings = field(default_factory=lambda: Settings(max_body_bytes=4096))
    authenticator: OneKey = field(default_factory=OneKey)
    telemetry: Remembering = field(default_factory=Remembering)
    limiter: RateLimiter = field(default_factory=lambda: RateLimiter(LocalBuckets(), lambda project: 0))


class Anything(BaseModel):
    user_id: str | None = None
    count: int | None = None


def echoing_app(parts: FewParts | None = None) -> FastAPI:
    """The real app with routes that only tell what reached them."""
    app = create_app(parts or FewParts())
    echoes = APIRouter(route_class=ApiRoute)

    @echoes.get("/v1/echo/{name:segment}/")
    def echo_path(identity: Reader, name: str) -> Answer:
        return Answer({"name": name})

    @echoes.get("/v1/echo/{name:segment}/history/")
    def echo_history(identity: Reader, name: str) -> Answer:
        return Answer({"history_of": name})

    @echoes.post("/v1/echo/")
    def echo_body(identity: Writer, body: Anything) -> Answer:
        return Answer({"user_id": body.user_id})

    @echoes.get("/v1/broken/")
    def broken(identity: Reader) -> Answer:
        raise RuntimeError("secret memory text")

    adds = APIRouter(route_class=AddRoute)

    @adds.post("/v1/echo-add/")
    def echo_add(identity: Writer, body: Anything) -> Answer:
        return Answer({"user_id": body.user_id})

    app.include_router(echoes)
    app.include_router(adds)
    return app
