"""Checklist 1 to 7: construction of the clients, addresses, unknown keys, JSON everywhere."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.acceptance.account import KINDS, Account, official
from tests.conftest import Stack, TestProject

ZERO = "00000000-0000-0000-0000-000000000000"


@pytest.mark.item(1)
def test_01_a_client_learns_the_string_ids_of_its_project(owner: Account) -> None:
    told = owner.http.get("/v1/ping/").json()
    project = owner.client.project
    assert (project.org_id, project.project_id) == (told["org_id"], told["project_id"])
    assert all(isinstance(value, str) and value for value in (project.org_id, project.project_id))
    assert told["status"] == "ok"


@pytest.mark.item(2)
@pytest.mark.parametrize("kind", KINDS)
def test_02_a_wrong_key_is_a_value_error_with_the_servers_words(stack: Stack, kind: str) -> None:
    answer = httpx.get(f"{stack.url}/v1/ping/", headers={"Authorization": "Token wrong"})
    assert answer.status_code == 401
    with pytest.raises(ValueError, match=r"^Error: ") as refused, official(kind, "wrong", stack.url):
        pass
    assert answer.json()["detail"] in str(refused.value)


@pytest.mark.item(4)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", ["/", "/prefix", "/a/b/"])
def test_04_a_host_with_a_slash_or_a_path_prefix_works(project: TestProject, kind: str, suffix: str) -> None:
    with official(kind, project.key, project.url + suffix) as client:
        assert client.get_all(filters={"user_id": "u"})["count"] == 0
        assert client.users()["count"] == 0
        assert client.delete_all(user_id="u")["event_id"]


# method, path, body; {org} and {project} are the caller's own
CATALOGUE: list[tuple[str, str, Any]] = [
    ("GET", "/v1/ping/", None),
    ("POST", "/v3/memories/add/", {"messages": "I ski", "user_id": "u"}),
    ("POST", "/v3/memories/search/", {"query": "ski", "filters": {"user_id": "u"}}),
    ("POST", "/v3/memories/", {"filters": {"user_id": "u"}}),
    ("GET", f"/v1/memories/{ZERO}/", None),
    ("PUT", f"/v1/memories/{ZERO}/", {"text": "x"}),
    ("DELETE", f"/v1/memories/{ZERO}/", None),
    ("GET", f"/v1/memories/{ZERO}/history/", None),
    ("DELETE", "/v1/memories/?user_id=u", None),
    ("PUT", "/v1/batch/", {"memories": []}),
    ("DELETE", "/v1/batch/", {"memories": []}),
    ("GET", "/v1/entities/", None),
    ("GET", "/v2/entities/user/u/", None),
    ("DELETE", "/v2/entities/user/u/", None),
    ("DELETE", "/v1/entities/user/1/", None),
    ("GET", "/v1/events/", None),
    ("GET", f"/v1/event/{ZERO}/", None),
    ("GET", "/api/v1/orgs/organizations/{org}/projects/{project}/", None),
    ("PATCH", "/api/v1/orgs/organizations/{org}/projects/{project}/", {"description": "x"}),
    ("GET", "/api/v1/webhooks/projects/{project}/", None),
    ("POST", "/api/v1/webhooks/projects/{project}/", {"name": "x"}),
    ("PUT", f"/api/v1/webhooks/{ZERO}/", {"name": "x"}),
    ("DELETE", f"/api/v1/webhooks/{ZERO}/", None),
    ("POST", "/v1/memories/", {"messages": "I ski", "user_id": "u"}),
    ("POST", "/v2/memories/search/", {"query": "ski", "filters": {"user_id": "u"}}),
    ("POST", "/v2/memories/", {"filters": {"user_id": "u"}}),
    ("GET", "/v1/memories/?user_id=u", None),
    ("POST", "/v1/memories/search/", {"query": "ski", "user_id": "u"}),
    ("GET", "/v1/memories/user/u/", None),
    ("GET", "/v1/memories/events/", None),
]
MISSING_THINGS = {"memory_not_found", "event_not_found", "webhook_not_found", "entity_not_found"}


@pytest.mark.item(5)
@pytest.mark.parametrize(("method", "path", "body"), CATALOGUE, ids=[f"{line[0]} {line[1]}" for line in CATALOGUE])
def test_05_every_path_answers_with_its_slash_in_json_and_never_redirects(
    plain: Account, method: str, path: str, body: Any
) -> None:
    own = plain.client.project
    answer = plain.http.request(method, path.format(org=own.org_id, project=own.project_id), json=body)
    assert answer.headers["content-type"] == "application/json"
    if answer.is_success:
        answer.json()
    elif answer.status_code == 404:
        assert answer.json()["code"] in MISSING_THINGS
    else:
        assert (answer.status_code, path) == (400, "/api/v1/webhooks/projects/{project}/")


@pytest.mark.item(5)
def test_05_browsers_are_allowed_with_every_header_that_clients_send(plain: Account) -> None:
    asked = ["Authorization", "Content-Type", "Mem0-User-ID", "X-Mem0-Client", "X-Application", "Idempotency-Key"]
    answer = plain.http.options(
        "/v3/memories/add/",
        headers={
            "Origin": "https://app.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": ", ".join(asked),
        },
    )
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "*"
    allowed = {name.strip().lower() for name in answer.headers["access-control-allow-headers"].split(",")}
    assert {name.lower() for name in asked} <= allowed
    seen = plain.http.get("/v1/ping/", headers={"Origin": "https://app.example"})
    assert seen.headers["access-control-allow-origin"] == "*"


EXTRAS = {"source": "CLI", "output_format": "v1.1", "enable_graph": False, "version": "v2", "unheard_of": {"a": [1]}}


@pytest.mark.item(6)
def test_06_unknown_keys_are_let_through_and_change_nothing(owner: Account) -> None:
    [memory_id] = owner.verbatim("I ski in Chamonix", user_id="u", **EXTRAS)
    scope = {"filters": {"user_id": "u"}}
    assert owner.found("skiing", **scope, **EXTRAS) == owner.found("skiing", **scope)
    assert owner.listed(**scope, **EXTRAS) == owner.listed(**scope)
    answer = owner.http.put(f"/v1/memories/{memory_id}/", json={"text": "I ski in Zermatt", **EXTRAS})
    assert answer.status_code == 200
    assert owner.client.get(memory_id)["memory"] == "I ski in Zermatt"
    [event] = owner.http.get("/v1/events/?event_type=ADD").json()["results"]
    assert event["source"] == "CLI"


@pytest.mark.item(7)
def test_07_every_success_has_a_json_body_deletions_too(plain: Account) -> None:
    first, second, _third = plain.verbatim("one", "two", "three", user_id="u", agent_id="a")
    [entity] = [entity for entity in plain.client.users()["results"] if entity["type"] == "agent"]
    hook = {"url": "http://127.0.0.1:9/hook", "name": "h", "event_types": ["memory_add"]}
    created = plain.http.post(f"/api/v1/webhooks/projects/{plain.client.project.project_id}/", json=hook)
    deletions: list[tuple[str, Any]] = [
        (f"/v1/memories/{first}/", None),
        ("/v1/batch/", {"memories": [{"memory_id": second}]}),
        (f"/v1/entities/agent/{entity['id']}/", None),
        ("/v2/entities/user/u/", None),
        ("/v1/memories/?user_id=u", None),
        (f"/api/v1/webhooks/{created.json()['webhook_id']}/", None),
    ]
    for path, body in deletions:
        answer = plain.http.request("DELETE", path, json=body)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json"), path
        assert answer.json()["message"]
