"""Health, readiness, metrics: what operators and load balancers ask."""

from __future__ import annotations

import re
from typing import Any

import pytest

from core.adapters.sql.ops_store import SCHEMA_REVISION
from core.ports.database import DatabaseUnavailable
from core.ports.index import IndexUnavailable
from deploy.migrations.run import head
from tests.api.world import World


def test_the_schema_revision_that_the_code_needs_is_the_newest() -> None:
    assert head() == SCHEMA_REVISION


def test_health_needs_no_key(api: World) -> None:
    reply = api.server.send("GET", "/healthz", headers={"Authorization": None})
    assert (reply.status, reply.body) == (200, {"status": "ok"})
    assert api.server.send("HEAD", "/healthz").status == 200


def test_readiness_tells_missing_parts_and_fails_only_when_all_are_wanted(api: World) -> None:
    with api.parts.database.operations() as tx:
        tx.ops.forget("w")
    partly = api.server.send("GET", "/readyz")
    assert (partly.status, partly.body["status"], partly.body["degraded"]) == (200, "degraded", ["worker"])
    whole = api.server.send("GET", "/readyz?all=1")
    assert (whole.status, whole.headers["retry-after"]) == (503, "1")
    with api.parts.database.operations() as tx:
        tx.ops.beat("w", "ingest", {})
    ready = api.server.send("GET", "/readyz?all=1")
    assert (ready.status, ready.body["status"], set(ready.body["parts"].values())) == (200, "ready", {"ok"})


def test_an_index_that_is_away_degrades_and_a_database_that_is_away_is_not_ready(
    api: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_index() -> str:
        raise IndexUnavailable("down")

    def no_database() -> Any:
        raise DatabaseUnavailable("down")

    with monkeypatch.context() as down:
        down.setattr(api.parts.runtime.index, "version", no_index)
        reply = api.server.send("GET", "/readyz")
        assert (reply.status, reply.body["parts"]["index"]) == (200, "unreachable")
    with monkeypatch.context() as down:
        down.setattr(api.parts.runtime.database, "operations", no_database)
        reply = api.server.send("GET", "/readyz")
        assert (reply.status, reply.body["parts"]["database"]) == (503, "unreachable")
        assert api.server.send("GET", "/healthz").status == 200


def test_a_database_that_is_away_is_503_with_a_time_to_come_back(api: World, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = api.project()
    caller.get("/v1/ping/")

    def no_database(*_: Any) -> Any:
        raise DatabaseUnavailable("down")

    with monkeypatch.context() as down:
        down.setattr(api.parts.runtime.database, "operations", no_database)
        down.setattr(api.parts.runtime.database, "transaction", no_database)
        reply = caller.send("POST", "/v3/memories/add/", {"messages": "x", "user_id": "u"})
    assert (reply.status, reply.body["code"], reply.headers["retry-after"]) == (503, "database_unavailable", "1")


def test_metrics_are_text_with_the_state_of_the_queue(api: World) -> None:
    reply = api.server.send("GET", "/metrics", headers={"Authorization": None})
    assert reply.status == 200
    assert reply.headers["content-type"].startswith("text/plain")
    assert b"memlane_database_up 1" in reply.raw
    assert b"memlane_due_events" in reply.raw


def test_the_document_describes_every_route_with_its_errors(api: World) -> None:
    document = api.server.send("GET", "/openapi.json").body
    operations = [
        (path, method, operation) for path, item in document["paths"].items() for method, operation in item.items()
    ]
    assert len({operation["operationId"] for _, _, operation in operations}) == len(operations)
    for path, method, operation in operations:
        assert operation.get("description") or operation.get("summary"), (path, method)
        if path.startswith(("/v", "/api")):
            assert {"400", "401", "403", "503"} <= set(operation["responses"]), (path, method)
            assert operation["security"] == [{"ApiKey": []}], (path, method)
            assert "422" not in operation["responses"] or path.endswith(("/add/", "/v1/memories/")), (path, method)


def test_the_root_leads_to_the_documentation(api: World) -> None:
    reply = api.server.send("GET", "/")
    assert (reply.status, reply.headers["location"]) == (307, "docs")


@pytest.mark.parametrize("page", ["/docs", "/redoc"])
def test_the_documentation_needs_no_other_host(api: World, page: str) -> None:
    reply = api.server.send("GET", page)
    assets = re.findall(r'(?:src|href)="([^"]+)"', reply.raw.decode())
    assert assets
    assert {api.server.send("GET", asset).status for asset in assets} == {200}
