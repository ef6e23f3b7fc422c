"""Checklist 62 and 63: webhooks by the official client, and what arrives at a receiver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from mem0.exceptions import MemoryNotFoundError, ValidationError

from tests.acceptance.account import Account, account
from tests.acceptance.conftest import ModelStack
from tests.doubles.receiver import Receiver

TYPES = ["memory_add", "memory_update", "memory_delete", "memory_categorize"]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


def subscribe(owner: Account, receiver: Receiver, *types: str) -> dict[str, Any]:
    created: dict[str, Any] = owner.client.create_webhook(
        url=receiver.url, name="hook", project_id=owner.client.project.project_id, event_types=list(types)
    )
    return created


@pytest.mark.item(62)
def test_62_webhooks_are_made_listed_changed_and_removed(owner: Account, receiver: Receiver) -> None:
    project = owner.client.project.project_id
    created = subscribe(owner, receiver, "memory_add", "memory_update")
    assert isinstance(created["webhook_id"], str)
    assert created["is_active"] is True
    [listed] = owner.client.get_webhooks(project)
    assert set(listed) >= {"webhook_id", "name", "url", "event_types", "owner", "is_active", "project"}
    assert (listed["url"], listed["event_types"]) == (receiver.url, ["memory_add", "memory_update"])
    assert "secret" not in listed
    changed = owner.client.update_webhook(created["webhook_id"], name="other", event_types=["memory_delete"])
    assert changed == {"message": "Webhook updated successfully"}
    [listed] = owner.client.get_webhooks(project)
    assert (listed["name"], listed["url"], listed["event_types"]) == ("other", receiver.url, ["memory_delete"])
    removed = owner.client.delete_webhook(created["webhook_id"])
    assert removed == {"message": "Webhook deleted successfully"}
    assert owner.client.get_webhooks(project) == []
    with pytest.raises(MemoryNotFoundError, match="Webhook not found"):
        owner.client.delete_webhook(created["webhook_id"])
    with pytest.raises(ValidationError):
        subscribe(owner, receiver, "memory_forgotten")


@pytest.mark.item(63)
def test_63_each_change_arrives_once_in_the_documented_form(
    modelled: Account, model_stack: ModelStack, receiver: Receiver
) -> None:
    secret = subscribe(modelled, receiver, *TYPES)["secret"]
    [added] = modelled.remember("My favourite food is sushi", user_id="u")
    told = [receiver.verified(secret) for _ in range(2)]
    detail = {"id": added["id"], "data": {"memory": "My favourite food is sushi"}, "event": "ADD"}
    categorised = {"event": "CATEGORIZE", "memory_id": added["id"], "categories": ["food"]}
    assert sorted(told, key=str) == sorted([{"event_details": detail}, {"event_details": categorised}], key=str)
    modelled.client.update(added["id"], text="My favourite food is ramen")
    changes = [receiver.verified(secret)["event_details"] for _ in range(2)]
    [update] = [change for change in changes if change["event"] == "UPDATE"]
    assert update == {"id": added["id"], "data": {"memory": "My favourite food is ramen"}, "event": "UPDATE"}
    assert categorised in changes  # found again for the new text, by the worker
    modelled.client.delete(added["id"])
    deleted = receiver.verified(secret)["event_details"]
    assert (deleted["id"], deleted["event"]) == (added["id"], "DELETE")
    assert receiver.waiting == 0


@pytest.mark.item(63)
def test_63_only_the_types_asked_for_and_only_of_that_project(
    modelled: Account, model_stack: ModelStack, receiver: Receiver
) -> None:
    """What would arrive wrongly was stored before what does arrive, and is due before it."""
    secret = subscribe(modelled, receiver, "memory_delete")["secret"]
    with account(model_stack.new_project()) as stranger:
        [foreign] = stranger.verbatim("Somebody else's", user_id="u")
        stranger.client.delete(foreign)
    kept, dropped = modelled.verbatim("I ski", "I sail", user_id="u")
    modelled.client.update(kept, text="I snowboard")
    modelled.client.delete(dropped)
    assert receiver.verified(secret)["event_details"]["id"] == dropped
    assert receiver.waiting == 0
