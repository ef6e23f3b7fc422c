"""Checklist 72: two keys of two projects never see each other's anything."""

from __future__ import annotations

from typing import Any

import pytest
from mem0.exceptions import AuthenticationError, MemoryNotFoundError

from tests.acceptance.account import Account, ids

HOOK = {"url": "http://127.0.0.1:9/hook", "name": "h", "event_types": ["memory_add"]}


def subscribe(owner: Account) -> str:
    created = owner.client.create_webhook(project_id=owner.client.project.project_id, **HOOK)
    webhook_id: str = created["webhook_id"]
    return webhook_id


@pytest.mark.item(72)
def test_72_memories_entities_and_events_stay_in_their_project(owner: Account, another: Account) -> None:
    [mine] = owner.verbatim("The same words", user_id="u")
    [theirs] = another.verbatim("The same words", user_id="u")
    their_event = another.http.get("/v1/events/").json()["results"][0]["id"]
    wide: list[dict[str, Any]] = [
        {"user_id": "u"},
        {"OR": [{"user_id": "*"}, {"agent_id": "*"}]},
        {"user_id": "u", "memory_ids": [mine, theirs]},
        {"OR": [{"user_id": "u"}, {"memory_ids": [theirs]}]},
    ]
    for filters in wide:
        assert ids(owner.listed(filters=filters)) == {mine}, filters
        assert ids(owner.found("The same words", filters=filters)) == {mine}, filters
    for call in (owner.client.get, owner.client.history, owner.client.delete):
        with pytest.raises(MemoryNotFoundError):
            call(theirs)
    with pytest.raises(MemoryNotFoundError):
        owner.client.update(theirs, text="Mine now")
    for batch, change in ((owner.client.batch_update, {"text": "Mine now"}), (owner.client.batch_delete, {})):
        with pytest.raises(MemoryNotFoundError):
            batch([{"memory_id": theirs, **change}])
    assert owner.http.get(f"/v1/event/{their_event}/").status_code == 404
    assert their_event not in {event["id"] for event in owner.http.get("/v1/events/").json()["results"]}
    [entity] = owner.client.users()["results"]
    assert (entity["name"], entity["total_memories"]) == ("u", 1)
    owner.ended(owner.client.delete_all(user_id="*", agent_id="*", app_id="*", run_id="*"))
    owner.client.delete_users(user_id="u")
    assert another.client.get(theirs)["memory"] == "The same words"
    assert ids(another.found("The same words", filters={"user_id": "u"})) == {theirs}


@pytest.mark.item(72)
def test_72_webhooks_and_settings_stay_in_their_project(owner: Account, another: Account) -> None:
    mine, theirs = subscribe(owner), subscribe(another)
    their_project = another.client.project.project_id
    assert [hook["webhook_id"] for hook in owner.client.get_webhooks(owner.client.project.project_id)] == [mine]
    with pytest.raises((MemoryNotFoundError, AuthenticationError)):
        owner.client.get_webhooks(their_project)
    with pytest.raises((MemoryNotFoundError, AuthenticationError)):
        owner.client.create_webhook(project_id=their_project, **HOOK)
    with pytest.raises(MemoryNotFoundError):
        owner.client.update_webhook(theirs, name="mine now")
    with pytest.raises(MemoryNotFoundError):
        owner.client.delete_webhook(theirs)
    [kept] = another.client.get_webhooks(their_project)
    assert (kept["webhook_id"], kept["name"]) == (theirs, "h")
    assert owner.http.get(another.url).status_code == 404
    assert owner.http.patch(another.url, json={"name": "mine now"}).status_code == 404
