"""Revert: what comes back, what refuses it, and that it is an update like any other."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest
from sqlalchemy import text

from core.domain.ids import project_wire_id
from core.domain.memory import MemoryState
from core.services.change import Target
from core.services.change_batch import Item, update_batch
from core.services.embed import embed_all
from core.services.read_memory import read_memory
from core.services.update_memory import Change, update_memory
from tests.api.world import Caller, World


def revert(caller: Caller, memory_id: str, version: Any, **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return caller.send("POST", f"/v1/memories/{memory_id}/revert/", {"version": version}, named)


def put(caller: Caller, memory_id: str, body: dict[str, Any]) -> Any:
    return caller.expect(200, "PUT", f"/v1/memories/{memory_id}/", body)


def embedding(api: World, caller: Caller, memory_id: str) -> Any:
    with api.parts.database.transaction(caller.project_id) as tx:
        row = tx.connection.execute(text("SELECT embedding FROM memories WHERE id = :id"), {"id": memory_id}).one()
    return np.frombuffer(row.embedding, dtype="<f4")


def test_all_of_an_earlier_version_comes_back_as_a_new_one(api: World, caller: Caller) -> None:
    memory_id = caller.add("Nora loves hiking in Lyon", metadata={"a": [1]}, expiration_date="2999-01-01")
    first = caller.get(f"/v1/memories/{memory_id}/")
    put(caller, memory_id, {"text": "Ben loves sailing", "metadata": {"b": 2}})
    put(caller, memory_id, {"expiration_date": None, "timestamp": 1672531200})
    reply = revert(caller, memory_id, 1)
    assert (reply.status, reply.headers["etag"]) == (200, '"4"')
    changing = ("version", "updated_at")
    assert {k: v for k, v in reply.body.items() if k not in changing} == {
        k: v for k, v in first.items() if k not in changing
    }
    assert caller.get(f"/v1/memories/{memory_id}/") == reply.body
    assert np.allclose(embedding(api, caller, memory_id), api.embedder.embed_passages([first["memory"]])[0])
    last = caller.get(f"/v1/memories/{memory_id}/history/")[-1]
    assert (last["event"], last["version"], last["metadata"]) == ("UPDATE", 4, {"a": [1]})
    assert (last["old_memory"], last["new_memory"]) == ("Ben loves sailing", first["memory"])
    found = caller.expect(200, "POST", "/v3/memories/search/", {"query": "Lyon", "filters": {"user_id": "u"}})
    assert [hit["id"] for hit in found["results"]] == [memory_id]


def test_entities_come_back_as_they_were_extracted(api: World, caller: Caller) -> None:
    memory_id = caller.add("Nora loves hiking in Lyon")
    linked = text("SELECT key FROM entity_links WHERE memory_id = :id ORDER BY key")
    with api.parts.database.transaction(caller.project_id) as tx:
        before = [row.key for row in tx.connection.execute(linked, {"id": memory_id})]
    put(caller, memory_id, {"text": "all gone"})
    revert(caller, memory_id, 1)
    with api.parts.database.transaction(caller.project_id) as tx:
        assert [row.key for row in tx.connection.execute(linked, {"id": memory_id})] == before != []


def test_a_revert_can_be_reverted_and_one_to_the_present_changes_nothing(caller: Caller) -> None:
    memory_id = caller.add("I love hiking")
    put(caller, memory_id, {"text": "I love sailing"})
    assert revert(caller, memory_id, 1).body["memory"] == "I love hiking"
    assert revert(caller, memory_id, 2).body["memory"] == "I love sailing"
    assert revert(caller, memory_id, 4).body["version"] == 4
    assert len(caller.get(f"/v1/memories/{memory_id}/history/")) == 4


def test_a_superseded_memory_reverted_to_when_it_was_current_is_current_again(api: World, caller: Caller) -> None:
    old, new = caller.add_all(["lives in Lyon", "lives in Porto"])
    with api.parts.database.transaction(caller.project_id) as tx:
        before = tx.changes.lock(caller.project_id, [old])[0]
        assert tx.memories.close(old, "superseded", new, "changed", datetime.now(UTC))
        after = tx.changes.read(caller.project_id, before.id)
        tx.changes.record_update(before, after, None)
    assert caller.get(f"/v1/memories/{old}/")["lifecycle_state"] == "superseded"
    again = revert(caller, old, 1).body
    assert (again["lifecycle_state"], again["replaced_by"], again["replaced_kind"]) == ("active", None, None)
    assert caller.points()[old]["state"] == MemoryState.ACTIVE
    back = revert(caller, old, 2).body
    assert (back["lifecycle_state"], back["replaced_by"], back["replaced_kind"]) == ("superseded", new, "changed")


def test_an_expired_version_comes_back_expired(caller: Caller) -> None:
    old = caller.add("I love hiking", expiration_date="2000-01-01")
    put(caller, old, {"expiration_date": "2999-01-01"})
    assert revert(caller, old, 1).body["expiration_date"] == "2000-01-01"
    new = caller.add("I love hiking")  # the expired one gives way
    put(caller, old, {"metadata": {"a": 1}})
    assert revert(caller, old, 3).body["metadata"] == {}
    reply = revert(caller, old, 2)
    assert (reply.status, reply.body["memory_id"]) == (409, new)


def test_a_text_that_another_memory_has_taken_meanwhile_is_a_conflict(caller: Caller) -> None:
    memory_id = caller.add("I love hiking")
    put(caller, memory_id, {"text": "I love sailing"})
    other = caller.add("I love hiking")
    reply = revert(caller, memory_id, 1)
    assert (reply.status, reply.body["code"], reply.body["memory_id"]) == (409, "duplicate_memory", other)
    assert caller.get(f"/v1/memories/{memory_id}/")["memory"] == "I love sailing"


def test_what_is_unknown_or_deleted_or_foreign_is_404(api: World, caller: Caller) -> None:
    memory_id = caller.add("I love hiking")
    missing = revert(caller, memory_id, 7)
    assert (missing.status, missing.body["code"]) == (404, "version_not_found")
    foreign = api.project().add("theirs")
    for id_ in (str(uuid4()), foreign):
        assert revert(caller, id_, 1).body["code"] == "memory_not_found"
    caller.expect(200, "DELETE", f"/v1/memories/{memory_id}/")
    assert revert(caller, memory_id, 1).body["code"] == "memory_not_found"
    assert revert(caller, "abc", 1).body["code"] == "memory_id_invalid"


@pytest.mark.parametrize("version", [0, -1, "1", 1.5, None, True, 2**31])
def test_a_version_is_a_positive_integer(caller: Caller, version: Any) -> None:
    reply = revert(caller, caller.add("I love hiking"), version)
    assert (reply.status, reply.body["pointer"]) == (400, "version")


def test_if_match_and_immutable_hold(caller: Caller) -> None:
    memory_id = caller.add("I love hiking")
    put(caller, memory_id, {"text": "I love sailing"})
    assert revert(caller, memory_id, 1, If_Match='"1"').body["code"] == "version_mismatch"
    assert revert(caller, memory_id, 1, If_Match='"2"').status == 200
    fixed = caller.add("never changes", immutable=True)
    assert revert(caller, fixed, 1).body["code"] == "memory_immutable"


def test_it_needs_the_right_to_write(api: World, caller: Caller) -> None:
    reader = api.project(scopes=("read",))
    assert reader.send("POST", f"/v1/memories/{uuid4()}/revert/", {"version": 1}).status == 403


def test_webhooks_hear_of_it_as_of_any_update(api: World, caller: Caller) -> None:
    memory_id = caller.add("I love hiking")
    put(caller, memory_id, {"text": "I love sailing"})
    path = f"/api/v1/webhooks/projects/{project_wire_id(caller.project_id)}/"
    body = {"name": "h", "url": "http://127.0.0.1:9/", "event_types": ["memory_update"]}
    caller.expect(201, "POST", path, body)
    revert(caller, memory_id, 1)
    query = text("SELECT event_type, memory_id, due_at FROM deliveries WHERE project_id = :project")
    with api.parts.database.operations() as tx:
        [told] = tx.connection.execute(query, {"project": caller.project_id}).all()
    assert (told.event_type, str(told.memory_id)) == ("memory_update", memory_id)
    assert told.due_at is not None  # due, because it is searchable


@pytest.mark.parametrize("batch", [False, True])
def test_an_update_that_loses_a_race_still_has_the_vector_of_its_text(
    api: World, caller: Caller, monkeypatch: pytest.MonkeyPatch, batch: bool
) -> None:
    """When it is read the text named is already there; when the row is locked, another one is."""
    memory_id = caller.add("I love hiking")
    runtime = api.parts.runtime
    embed = runtime.models.embedder.embed_passages
    place = "core.services.change_batch.embed_all" if batch else "core.services.update_memory.read_memory"
    real = embed_all if batch else read_memory

    def overtaken(*args: Any) -> Any:
        found = real(*args)
        monkeypatch.setattr(place, real)
        put(caller, memory_id, {"text": "I love sailing"})
        return found

    monkeypatch.setattr(place, overtaken)
    change = Change(text="I love hiking")
    if batch:
        update_batch(runtime, caller.project_id, [Item(UUID(memory_id), change)])
    else:
        update_memory(runtime, Target(caller.project_id, UUID(memory_id)), change)
    assert caller.get(f"/v1/memories/{memory_id}/")["memory"] == "I love hiking"
    assert np.allclose(embedding(api, caller, memory_id), embed(["I love hiking"])[0])
    assert memory_id in caller.points()
