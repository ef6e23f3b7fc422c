"""Checklist 55 to 59: many memories at once, and the entities that they belong to."""

from __future__ import annotations

from typing import Any

import pytest
from mem0.client.types import DeleteAllMemoryOptions
from mem0.exceptions import MemoryNotFoundError, ValidationError

from core.domain.scope import ENTITY_FIELDS
from tests.acceptance.account import Account, ids

IN_PROGRESS = "Delete in progress. This may take some time."
ZERO = "00000000-0000-0000-0000-000000000000"
ANYBODY = {"OR": [{field: "*"} for field in ENTITY_FIELDS]}


def everything(owner: Account) -> set[str]:
    return ids(owner.listed(filters=ANYBODY))


def delete_all(owner: Account, **given: Any) -> None:
    answer = owner.client.delete_all(**given)
    assert answer["message"] == IN_PROGRESS
    event = owner.ended(answer)
    assert (event["event_type"], event["status"]) == ("DELETE_ALL", "SUCCEEDED")


@pytest.mark.item(55)
def test_55_batches_update_and_delete_and_have_a_limit(owner: Account) -> None:
    first, second, third = owner.verbatim("one", "two", "three", user_id="u")
    changes = [{"memory_id": first, "text": "eins"}, {"memory_id": second, "metadata": {"a": 1}}]
    assert owner.client.batch_update(changes) == {"message": "Successfully updated 2 memories"}
    assert owner.client.get(first)["memory"] == "eins"
    assert (owner.client.get(second)["memory"], owner.client.get(second)["metadata"]) == ("two", {"a": 1})
    gone = [{"memory_id": first}, {"memory_id": second}]
    assert owner.client.batch_delete(gone) == {"message": "Successfully deleted 2 memories"}
    assert everything(owner) == {third}
    with pytest.raises(ValidationError, match="Maximum of 1000 memories can be updated in a single request"):
        owner.client.batch_update([{"memory_id": ZERO, "text": "x"}] * 1001)
    with pytest.raises(ValidationError, match="Maximum of 1000 memories can be deleted in a single request"):
        owner.client.batch_delete([{"memory_id": ZERO}] * 1001)


@pytest.mark.item(56)
def test_56_delete_all_is_as_wide_as_its_ids_and_no_wider(owner: Account) -> None:
    [bare] = owner.verbatim("one", user_id="u")
    [in_run] = owner.verbatim("one", user_id="u", run_id="r")
    [others] = owner.verbatim("one", user_id="v", run_id="r")
    [agents] = owner.verbatim("one", agent_id="a")
    with pytest.raises(ValidationError):
        owner.client.delete_all()
    delete_all(owner, user_id="unknown")
    assert everything(owner) == {bare, in_run, others, agents}
    delete_all(owner, user_id="u", run_id="r")
    assert everything(owner) == {bare, others, agents}
    delete_all(owner, user_id="*")
    assert everything(owner) == {agents}
    delete_all(owner, user_id="*", agent_id="*", app_id="*", run_id="*")
    assert everything(owner) == set()


@pytest.mark.item(57)
def test_57_filters_written_as_python_reach_exactly_their_rows(owner: Account) -> None:
    """The client sends `filters={'user_id': 'u'}`, a Python literal, in the query."""
    [mine] = owner.verbatim("one", user_id="O'Brien")
    [in_run] = owner.verbatim("one", user_id="O'Brien", run_id="r")
    [other] = owner.verbatim("one", user_id="v")
    delete_all(owner, options=DeleteAllMemoryOptions(filters={"user_id": "O'Brien", "run_id": "r"}))
    assert everything(owner) == {mine, other}
    for wrong in ({}, {"NOT": {"user_id": "v"}}, {"bogus": 1}):
        with pytest.raises(ValidationError):
            owner.client.delete_all(options=DeleteAllMemoryOptions(filters=wrong))
    assert everything(owner) == {mine, other}
    delete_all(owner, options=DeleteAllMemoryOptions(filters={"user_id": "O'Brien"}))
    assert everything(owner) == {other}
    with pytest.raises(MemoryNotFoundError):
        owner.client.get(in_run)


@pytest.mark.item(58)
def test_58_entities_are_listed_as_soon_as_they_have_memories(owner: Account) -> None:
    owner.verbatim("one", "two", user_id="u", agent_id="a")
    owner.verbatim("three", app_id="p", run_id="r")
    found = owner.client.users()
    assert (found["count"], found["next"], found["previous"]) == (4, None, None)
    assert [found[f"total_{kind}s"] for kind in ("user", "agent", "app", "run")] == [1, 1, 1, 1]
    totals = {(entity["type"], entity["name"]): entity["total_memories"] for entity in found["results"]}
    assert totals == {("user", "u"): 2, ("agent", "a"): 2, ("app", "p"): 1, ("run", "r"): 1}
    assert all(isinstance(entity[key], str) for entity in found["results"] for key in ("id", "name", "type"))
    page = owner.http.get("/v1/entities/", params={"page": 2, "page_size": 3}).json()
    assert (page["count"], len(page["results"]), page["next"]) == (4, 1, None)


@pytest.mark.item(59)
def test_59_deleting_a_user_removes_it_with_its_memories(owner: Account) -> None:
    [mine] = owner.verbatim("one", user_id="u", run_id="r")
    [other] = owner.verbatim("one", user_id="v")
    assert owner.client.delete_users(user_id="u") == {"message": "Entity deleted successfully."}
    assert everything(owner) == {other}
    with pytest.raises(MemoryNotFoundError):
        owner.client.get(mine)
    assert {entity["name"] for entity in owner.client.users()["results"]} == {"v"}
    owner.client.delete_users(user_id="u")
    with pytest.raises(MemoryNotFoundError):
        owner.client.delete_users(user_id="never seen")


@pytest.mark.item(59)
def test_59_reset_leaves_no_entity_also_of_more_than_a_page(owner: Account) -> None:
    names = [{field: f"{field} {number}" for field in ENTITY_FIELDS} for number in range(26)]
    for accepted in [owner.client.add("one", infer=False, **four) for four in names]:
        owner.ended(accepted)
    assert owner.client.users()["count"] == 4 * len(names)
    owner.client.reset()
    assert owner.client.users()["count"] == 0
    assert everything(owner) == set()
    with pytest.raises(ValueError, match="No entities to delete"):
        owner.client.reset()
