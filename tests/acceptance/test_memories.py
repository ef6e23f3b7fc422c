"""Checklist 48 to 54: one memory read, changed, hidden, deleted; its history; names with every character."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import quote

import pytest
from mem0.client.types import UpdateMemoryOptions
from mem0.exceptions import MemoryNotFoundError, ValidationError

from tests.acceptance.account import Account, ids, texts
from tests.acceptance.conftest import ModelStack
from tests.doubles.model_server import memories

USER = {"user_id": "u"}
ZERO = "00000000-0000-0000-0000-000000000000"


@pytest.mark.item(48)
def test_48_get_gives_the_memory_or_says_what_is_wrong_with_the_id(owner: Account) -> None:
    [memory_id] = owner.verbatim("I ski", user_id="u", metadata={"a": {"b": [1]}})
    row = owner.client.get(memory_id)
    assert (row["id"], row["memory"], row["user_id"], row["metadata"]) == (memory_id, "I ski", "u", {"a": {"b": [1]}})
    assert row["categories"] is None
    for key in ("created_at", "updated_at"):
        assert datetime.fromisoformat(row[key]).utcoffset() == UTC.utcoffset(None)
    with pytest.raises(ValidationError, match="valid UUID"):
        owner.client.get("x")
    with pytest.raises(MemoryNotFoundError, match="Memory not found!"):
        owner.client.get(ZERO)


@pytest.mark.item(49)
def test_49_an_update_shows_at_once_and_in_the_history(owner: Account) -> None:
    [memory_id] = owner.verbatim("I ski", user_id="u", metadata={"a": 1})
    answer = owner.client.update(memory_id, text="I snowboard")
    assert answer == owner.client.get(memory_id)
    assert (answer["memory"], answer["metadata"]) == ("I snowboard", {"a": 1})
    assert texts(owner.found("snowboarding", filters=USER)) == ["I snowboard"]
    last = owner.client.history(memory_id)[-1]
    assert (last["event"], last["old_memory"], last["new_memory"]) == ("UPDATE", "I ski", "I snowboard")
    owner.client.update(memory_id, options=UpdateMemoryOptions(metadata={"b": {"c": None}}))
    assert owner.client.get(memory_id)["metadata"] == {"b": {"c": None}}
    assert owner.client.get(memory_id)["memory"] == "I snowboard"


@pytest.mark.item(50)
def test_50_an_expired_memory_is_hidden_but_not_gone(owner: Account) -> None:
    [memory_id] = owner.verbatim("I ski", user_id="u")
    owner.client.update(memory_id, expiration_date="2000-01-01")
    assert owner.found("ski", filters=USER) == owner.listed(filters=USER) == []
    assert owner.client.get(memory_id)["expiration_date"] == "2000-01-01"
    assert ids(owner.found("ski", filters=USER, show_expired=True)) == {memory_id}
    assert ids(owner.listed(filters=USER, show_expired=True)) == {memory_id}
    owner.client.update(memory_id, expiration_date=None)
    assert ids(owner.found("ski", filters=USER)) == ids(owner.listed(filters=USER)) == {memory_id}


@pytest.mark.item(51)
def test_51_a_timestamp_alone_is_an_update_and_an_immutable_memory_refuses_with_its_reason(owner: Account) -> None:
    [memory_id] = owner.verbatim("I ski", user_id="u")
    for given in ("2023-01-01T10:00:00+02:00", 1672560000, 1672560000.0):
        owner.client.update(memory_id, timestamp=given)
        assert owner.client.get(memory_id)["created_at"] == "2023-01-01T08:00:00.000000+00:00"
    [fixed] = owner.verbatim("I was born in Porto", user_id="u", immutable=True)
    with pytest.raises(ValidationError, match="immutable"):
        owner.client.update(fixed, text="I was born in Lyon")
    assert owner.client.get(fixed)["memory"] == "I was born in Porto"
    owner.client.delete(fixed)


@pytest.mark.item(52)
def test_52_a_deleted_memory_is_gone(owner: Account) -> None:
    first, second = owner.verbatim("I ski", "I sail", user_id="u")
    assert owner.client.delete(first) == {"message": "Memory deleted successfully!"}
    for call in (owner.client.get, owner.client.delete):
        with pytest.raises(MemoryNotFoundError):
            call(first)
    assert ids(owner.found("ski", filters=USER)) == ids(owner.listed(filters=USER)) == {second}
    assert owner.client.delete(second, delete_linked=True)["cascade_count"] == 0


@pytest.mark.item(52)
def test_52_delete_linked_takes_the_memories_that_it_had_replaced_along(
    modelled: Account, model_stack: ModelStack
) -> None:
    [old] = modelled.remember("I live in Lyon", user_id="u")
    changed = {"text": "User moved to Porto", "supersedes": [{"index": 1, "kind": "changed"}]}
    model_stack.model.chat.script(memories(changed))
    [new] = modelled.remember("I moved to Porto", user_id="u")
    assert modelled.client.get(old["id"])["replaced_by"] == new["id"]
    assert modelled.client.delete(new["id"], delete_linked=True)["cascade_count"] == 1
    assert modelled.listed(filters=USER) == []


@pytest.mark.item(53)
def test_53_history_begins_with_the_add(owner: Account) -> None:
    [memory_id] = owner.verbatim("I ski", user_id="u", run_id="r")
    [entry] = owner.client.history(memory_id)
    assert (entry["event"], entry["memory_id"], entry["old_memory"], entry["new_memory"]) == (
        "ADD",
        memory_id,
        None,
        "I ski",
    )
    assert entry["input"] == [{"role": "user", "content": "I ski"}]
    assert (entry["user_id"], entry["session_id"]) == ("u", "r")
    for key in ("created_at", "updated_at"):
        assert datetime.fromisoformat(entry[key]).tzinfo is not None


@pytest.mark.item(54)
@pytest.mark.parametrize("name", ["owner/repo", "a?b", "a#b", "a b", "é", "/ ? # space é", "50%25", "用户一"])
def test_54_names_with_any_character_travel_through_bodies_and_paths(owner: Account, name: str) -> None:
    [memory_id] = owner.verbatim("I ski", user_id=name, app_id=name)
    assert ids(owner.listed(filters={"user_id": name, "app_id": name})) == {memory_id}
    path = f"/v2/entities/user/{quote(name, safe='')}/"
    [entity] = owner.http.get(path).json()
    assert (entity["name"], entity["total_memories"]) == (name, 1)
    for call in (owner.client.get, owner.client.delete, owner.client.history):
        with pytest.raises(ValidationError, match="valid UUID"):
            call(name)
    owner.client.delete_users(app_id=name)
    with pytest.raises(MemoryNotFoundError):
        owner.client.get(memory_id)
