"""The rules that hold for every answer, seen on the running stack."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from tests.acceptance.account import Account

_SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
FOREIGN = {"org_id": "org_x", "project_id": "proj_x", "org_name": "x", "project_name": "x"}  # sent by old clients


@pytest.fixture
def answers(plain: Account) -> dict[str, Any]:
    """One answer of each kind, of a project that holds a memory which was changed."""
    [memory_id] = plain.verbatim("I ski", user_id="u", run_id="r", metadata={"anyCase": {"keptAsIs": 1}})
    plain.client.update(memory_id, text="I snowboard", expiration_date="2999-12-31")
    scope = {"user_id": "u", "run_id": "r"}
    [event] = plain.http.get("/v1/events/?event_type=ADD").json()["results"]
    return {
        "get": plain.client.get(memory_id),
        "list": plain.client.get_all(filters=scope),
        "search": plain.client.search("ski", filters=scope),
        "history": plain.client.history(memory_id),
        "entities": plain.client.users(),
        "event": plain.http.get(f"/v1/event/{event['id']}/").json(),
        "project": plain.client.project.get(),
    }


def pairs(value: Any) -> Iterator[tuple[str, Any]]:
    """Every (key, value) of an answer at any depth, but for what is the caller's own: metadata and payload."""
    if isinstance(value, list):
        for item in value:
            yield from pairs(item)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key, inner
            if key not in ("metadata", "payload"):
                yield from pairs(inner)


@pytest.mark.parametrize("scheme", ["Token", "Bearer"])
def test_t2_both_schemes_open_the_api(plain: Account, scheme: str) -> None:
    answer = plain.http.get("/v1/entities/", headers={"Authorization": f"{scheme} {plain.project.key}"})
    assert answer.status_code == 200


def test_t3_a_path_without_its_slash_is_served_too(plain: Account) -> None:
    for path in ("/v1/ping", "/v1/entities", "/v1/events", "/v3/memories"):
        body = {"filters": {"user_id": "u"}} if path.startswith("/v3") else None
        answer = plain.http.request("POST" if body else "GET", path, json=body)
        assert (answer.status_code, answer.history) == (200, []), path


def test_t7_the_key_alone_decides_the_project(plain: Account) -> None:
    body = {"messages": "I ski", "user_id": "u", "infer": False, **FOREIGN}
    accepted = plain.http.post("/v3/memories/add/", json=body, params=FOREIGN).raise_for_status().json()
    [result] = plain.ended(accepted)["results"]
    assert plain.http.get(f"/v1/memories/{result['id']}/", params=FOREIGN).json()["memory"] == "I ski"
    search = {"query": "ski", "filters": {"user_id": "u"}, **FOREIGN}
    [hit] = plain.http.post("/v3/memories/search/", json=search, params=FOREIGN).json()["results"]
    assert hit["id"] == result["id"]


def test_t9_keys_are_snake_case_and_metadata_is_kept_as_it_is(answers: dict[str, Any]) -> None:
    named = {key for key, _ in pairs(answers)}
    assert {key for key in named if not _SNAKE.fullmatch(key)} == set()
    assert answers["get"]["metadata"] == {"anyCase": {"keptAsIs": 1}}


def test_t13_times_are_iso_8601_in_utc(answers: dict[str, Any]) -> None:
    times = [value for key, value in pairs(answers) if key.endswith("_at") and value is not None]
    assert len(times) >= 12
    for value in times:
        assert datetime.fromisoformat(value).isoformat(timespec="microseconds") == value
        assert value.endswith("+00:00")


def test_t14_ids_are_uuids_and_those_of_projects_opaque_strings(answers: dict[str, Any]) -> None:
    for one in (answers["get"]["id"], answers["event"]["id"], answers["history"][0]["memory_id"]):
        assert str(UUID(one)) == one
    assert answers["project"]["project_id"].startswith("proj_")
