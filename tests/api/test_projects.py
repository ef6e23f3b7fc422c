"""Ping and the project object; what one key may see of another project: nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.world import Caller, World

KEYS = [
    "project_id",
    "name",
    "description",
    "created_at",
    "updated_at",
    "members",
    "usecase",
    "memory_depth",
    "inclusion_prompt",
    "exclusion_prompt",
    "custom_categories",
    "custom_instructions",
    "agent_custom_instructions",
    "update_custom_instructions",
    "summary_custom_instructions",
    "summary_batch_size",
    "summary_max_tokens",
    "expiration_date",
    "enable_graph",
    "multilingual",
    "version",
    "is_default",
    "active_prompt_profile",
    "decay",
    "user_role",
]


def path_of(caller: Caller) -> str:
    ping = caller.get("/v1/ping/")
    return f"/api/v1/orgs/organizations/{ping['org_id']}/projects/{ping['project_id']}/"


def test_a_project_has_every_documented_key(caller: Caller) -> None:
    project = caller.get(path_of(caller) + "?fields=custom_instructions&fields=decay&org_id=x&project_id=y")
    assert set(KEYS) <= set(project)
    assert (project["custom_categories"], project["custom_instructions"], project["decay"]) == (None, None, False)


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ({"custom_instructions": "no health data"}, {"custom_instructions": "no health data"}),
        ({"custom_instructions": ["a", "b"]}, {"custom_instructions": "a\nb"}),
        ({"agent_custom_instructions": ""}, {"agent_custom_instructions": None}),
        ({"custom_categories": [{"billing": "bills"}]}, {"custom_categories": [{"billing": "bills"}]}),
        ({"custom_categories": ["a", "b"]}, {"custom_categories": ["a", "b"]}),
        (
            {"retention": {"events": 10, "payloads": 0}},
            {"retention": {"payloads": 0, "events": 10, "deliveries": 30, "deleted_memories": 30}},
        ),
        ({"custom_categories": []}, {"custom_categories": []}),
        ({"decay": True, "multilingual": True}, {"decay": True, "multilingual": True}),
        ({"synthesis": True}, {"synthesis": True}),
        ({"name": "new name", "description": "text"}, {"name": "new name", "description": "text"}),
        ({"project_id": "other", "id": "x", "org_id": "y", "created_at": "z"}, {"name": "test"}),
    ],
)
def test_what_is_patched_is_read_back_and_the_rest_stays(
    caller: Caller, change: dict[str, Any], seen: dict[str, Any]
) -> None:
    path = path_of(caller)
    before = caller.get(path)
    assert caller.expect(200, "PATCH", path, change) == {"message": "Project updated successfully"}
    after = caller.get(path)
    assert {key: after[key] for key in seen} == seen
    unchanged = set(before) - set(change) - {"updated_at", "usecase"}
    assert {key: after[key] for key in unchanged} == {key: before[key] for key in unchanged}


@pytest.mark.parametrize(
    "change",
    [
        {"retention": {"events": -1}},
        {"retention": {"events": "7"}},
        {"retention": {"memories": 7}},
        {"retention": 7},
        {"decay": "yes"},
        {"custom_categories": [5]},
        {"name": " "},
        {"name": "x" * 300},
    ],
)
def test_wrong_settings_are_400(caller: Caller, change: dict[str, Any]) -> None:
    assert caller.send("PATCH", path_of(caller), change).status == 400


def test_other_projects_are_404_and_a_plain_key_cannot_change_settings(api: World, caller: Caller) -> None:
    other = path_of(api.project())
    reply = caller.send("GET", other)
    assert (reply.status, reply.body["message"]) == (404, "Project not found")
    assert caller.send("PATCH", other, {"name": "mine"}).status == 404
    writer = api.project(scopes=("read", "write"))
    assert writer.send("PATCH", path_of(writer), {"name": "x"}).status == 403
    reader = api.project(scopes=("read",))
    assert reader.send("POST", "/v3/memories/add/", {"messages": "x", "user_id": "u"}).status == 403
    assert reader.send("GET", "/v1/entities/").status == 200


def test_projects_never_see_each_others_rows(api: World, caller: Caller) -> None:
    mine = caller.add("one")
    other = api.project()
    theirs = other.add("one")
    assert mine != theirs
    for filters in ({"user_id": "*"}, {"OR": [{"user_id": "u"}, {"memory_ids": [theirs]}]}):
        found = caller.expect(200, "POST", "/v3/memories/", {"filters": filters})
        assert [row["id"] for row in found["results"]] == [mine]
    assert [entity["total_memories"] for entity in caller.get("/v1/entities/")["results"]] == [1]


def test_a_revoked_key_is_refused(api: World, caller: Caller) -> None:
    from core.services.issue_key import list_keys, revoke_key

    [row] = [row for row in list_keys(api.parts.database) if row.project_id == caller.project_id]
    assert row.last_used_at is None
    assert revoke_key(api.parts.database, str(row.id)) == 1
    assert caller.send("GET", "/v1/ping/").status == 401
