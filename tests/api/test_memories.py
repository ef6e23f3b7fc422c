"""Get, update, delete, history of single memories, and batches."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from core.ports.database import DatabaseUnavailable, TransactionConflict
from core.ports.index import IndexUnavailable
from tests.api.world import Caller, World


def put(caller: Caller, memory_id: str, body: dict[str, Any], **headers: str) -> Any:
    return caller.send(
        "PUT", f"/v1/memories/{memory_id}/", body, {k.replace("_", "-"): v for k, v in headers.items()}
    )


def test_the_memory_object_has_every_documented_key(caller: Caller) -> None:
    memory_id = caller.add(
        "I love hiking", app_id="shop/x", run_id="r", metadata={"sku": "S-9"}, timestamp=1672531200
    )
    memory = caller.get(f"/v1/memories/{memory_id}/")
    assert memory["memory"] == "I love hiking"
    assert (memory["user_id"], memory["agent_id"], memory["app_id"]) == ("u", None, "shop/x")
    assert (memory["run_id"], memory["session_id"]) == ("r", "r")
    assert memory["metadata"] == {"sku": "S-9"}
    assert memory["created_at"] == "2023-01-01T00:00:00.000000+00:00"
    assert memory["structured_attributes"] == {
        "year": 2023,
        "month": 1,
        "day": 1,
        "hour": 0,
        "minute": 0,
        "day_of_week": "sunday",
        "week_of_year": 52,
        "day_of_year": 1,
        "quarter": 1,
        "is_weekend": True,
    }
    assert (memory["lifecycle_state"], memory["synthesized"], memory["replaced_by"]) == ("active", False, None)
    assert isinstance(memory["updated_at"], str)
    assert "score" not in memory


@pytest.mark.parametrize("number", [1e19, 2e19, -1e20, 1.79e308, 1e22, 5e-324, 0.1, 1e16, 2**63 - 1, -(2**63), 1.0])
def test_numbers_of_metadata_come_back_whatever_their_size(caller: Caller, number: float) -> None:
    """PostgreSQL writes 2e19 as twenty digits, which is a number of more than 64 bits."""
    metadata = {"n": number, "deep": [{"n": number}]}
    memory_id = caller.add(f"I counted to {number}", metadata=metadata)
    assert caller.get(f"/v1/memories/{memory_id}/")["metadata"] == metadata
    assert put(caller, memory_id, {"text": f"I never counted to {number}"}).status == 200
    assert caller.get(f"/v1/memories/{memory_id}/")["metadata"] == metadata
    assert len(caller.get(f"/v1/memories/{memory_id}/history/")) == 2
    listed = caller.send("POST", "/v3/memories/", {"filters": {"user_id": "u"}})
    assert metadata in [memory["metadata"] for memory in listed.body["results"]]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_bad_unknown_and_foreign_ids(api: World, caller: Caller, method: str) -> None:
    foreign = api.project().add("theirs")
    body = {"text": "x"} if method == "PUT" else None
    for id_, status, error in (
        ("abc", 400, "memory_id should be a valid UUID"),
        (str(uuid4()).replace("-", ""), 400, "memory_id should be a valid UUID"),
        (str(uuid4()), 404, "Memory not found!"),
        (foreign, 404, "Memory not found!"),
    ):
        reply = caller.send(method, f"/v1/memories/{id_}/", body)
        assert (reply.status, reply.body["error"]) == (status, error)
    assert caller.send("GET", f"/v1/memories/{foreign}/history/").status == 404


def test_an_updated_text_is_stored_searchable_and_in_history(caller: Caller) -> None:
    memory_id = caller.add("I love hiking", metadata={"sku": "S-9", "nested": {"a": [1]}})
    before = caller.get(f"/v1/memories/{memory_id}/")
    point = caller.points()[memory_id]
    after = put(caller, memory_id, {"text": "Nora  loves sailing ", "source": "CLI"}).body
    assert after["memory"] == "Nora loves sailing"
    assert after["metadata"] == {"sku": "S-9", "nested": {"a": [1]}}
    assert (after["version"], after["created_at"]) == (2, before["created_at"])
    assert after["hash"] != before["hash"]
    assert after["updated_at"] > before["updated_at"]
    assert caller.get(f"/v1/memories/{memory_id}/") == after
    assert caller.points()[memory_id]["updated_at"] > point["updated_at"]
    added, updated = caller.get(f"/v1/memories/{memory_id}/history/")
    assert (added["event"], added["old_memory"], added["new_memory"]) == ("ADD", None, "I love hiking")
    assert (updated["event"], updated["old_memory"], updated["new_memory"]) == (
        "UPDATE",
        "I love hiking",
        "Nora loves sailing",
    )
    assert added["input"] == [{"role": "user", "content": "I love hiking"}]
    for entry in (added, updated):
        assert entry["memory_id"] == memory_id
        assert datetime.fromisoformat(entry["created_at"]).tzinfo is not None
        assert entry["created_at"] <= entry["updated_at"]


def test_metadata_is_replaced_and_cannot_set_identity(caller: Caller) -> None:
    memory_id = caller.add("I love hiking", metadata={"a": 1})
    after = put(caller, memory_id, {"metadata": {"b": 2.5, "user_id": "bob"}}).body
    assert (after["metadata"], after["user_id"], after["memory"]) == ({"b": 2.5}, "u", "I love hiking")


def test_the_old_name_of_text_is_accepted(caller: Caller) -> None:
    assert put(caller, caller.add("I love hiking"), {"data": "I love sailing"}).body["memory"] == "I love sailing"


@pytest.mark.parametrize("stamp", [1672531200, 1672531200.5, "2023-01-01T08:00:00+08:00", "2023-01-01"])
def test_a_timestamp_moves_created_at(caller: Caller, stamp: Any) -> None:
    after = put(caller, caller.add("I love hiking"), {"timestamp": stamp}).body
    assert after["created_at"].startswith("2023-01-01T00:00:00.")
    assert after["structured_attributes"]["year"] == 2023


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"source": "CLI"},
        {"text": ""},
        {"text": 5},
        {"expiration_date": "x"},
        {"timestamp": "x"},
        {"metadata": []},
    ],
)
def test_an_update_of_nothing_or_of_nonsense_is_400(caller: Caller, body: dict[str, Any]) -> None:
    memory_id = caller.add("I love hiking")
    assert put(caller, memory_id, body).status == 400
    assert len(caller.get(f"/v1/memories/{memory_id}/history/")) == 1


def test_an_update_that_changes_nothing_makes_no_version(caller: Caller) -> None:
    memory_id = caller.add("I love hiking")
    assert put(caller, memory_id, {"text": "I love hiking"}).body["version"] == 1
    assert len(caller.get(f"/v1/memories/{memory_id}/history/")) == 1


def test_an_expiration_is_set_and_cleared_and_get_still_answers(caller: Caller) -> None:
    memory_id = caller.add("I love hiking")
    assert put(caller, memory_id, {"expiration_date": "2000-01-01"}).body["expiration_date"] == "2000-01-01"
    assert caller.get(f"/v1/memories/{memory_id}/")["expiration_date"] == "2000-01-01"
    assert put(caller, memory_id, {"expiration_date": None}).body["expiration_date"] is None


def test_an_expired_text_gives_way_to_a_new_one_and_cannot_come_back_beside_it(caller: Caller) -> None:
    old = caller.add("I love hiking", expiration_date="2000-01-01")
    new = caller.add("I love hiking")
    assert old != new
    reply = put(caller, old, {"expiration_date": None})
    assert (reply.status, reply.body["code"], reply.body["memory_id"]) == (409, "duplicate_memory", new)
    caller.expect(200, "DELETE", f"/v1/memories/{new}/")
    assert put(caller, old, {"expiration_date": None}).body["lifecycle_state"] == "active"


def test_an_immutable_memory_cannot_be_updated_but_deleted(caller: Caller) -> None:
    memory_id = caller.add("I love hiking", immutable=True)
    reply = put(caller, memory_id, {"text": "x"})
    assert (reply.status, reply.body["code"]) == (400, "memory_immutable")
    assert caller.send("DELETE", f"/v1/memories/{memory_id}/").status == 200


def test_an_update_onto_another_memorys_text_is_a_conflict(caller: Caller) -> None:
    first, second = caller.add_all(["I love hiking", "I love sailing"])
    reply = put(caller, second, {"text": "I love hiking"})
    assert (reply.status, reply.body["code"], reply.body["memory_id"]) == (409, "duplicate_memory", first)
    assert put(caller, second, {"text": "I love hiking!"}).status == 200
    other_scope = caller.add("I love sailing", user_id="v")
    assert put(caller, other_scope, {"text": "I love hiking"}).status == 200


def test_if_match_guards_updates_and_deletes(caller: Caller) -> None:
    memory_id = caller.add("I love hiking")
    tag = caller.send("GET", f"/v1/memories/{memory_id}/").headers["etag"]
    assert put(caller, memory_id, {"text": "I love sailing"}, If_Match=tag).headers["etag"] == '"2"'
    stale = put(caller, memory_id, {"text": "I love skiing"}, If_Match=tag)
    assert (stale.status, stale.body["code"]) == (412, "version_mismatch")
    assert caller.send("DELETE", f"/v1/memories/{memory_id}/", headers={"If-Match": tag}).status == 412
    assert put(caller, memory_id, {"text": "I love skiing"}, If_Match="3").status == 400
    assert caller.send("DELETE", f"/v1/memories/{memory_id}/", headers={"If-Match": '"2"'}).status == 200


def test_a_deleted_memory_is_gone_once_and_keeps_its_history(caller: Caller) -> None:
    memory_id = caller.add("I love hiking")
    assert caller.expect(200, "DELETE", f"/v1/memories/{memory_id}/") == {"message": "Memory deleted successfully!"}
    assert caller.send("DELETE", f"/v1/memories/{memory_id}/").status == 404
    assert caller.send("GET", f"/v1/memories/{memory_id}/").status == 404
    assert put(caller, memory_id, {"text": "x"}).status == 404
    assert memory_id not in caller.points()
    history = caller.get(f"/v1/memories/{memory_id}/history/")
    assert [(entry["event"], entry["old_memory"], entry["new_memory"]) for entry in history] == [
        ("ADD", None, "I love hiking"),
        ("DELETE", "I love hiking", None),
    ]
    assert caller.add("I love hiking") != memory_id


def test_delete_linked_takes_the_replaced_ones_along(api: World, caller: Caller) -> None:
    oldest, older, newest, apart = caller.add_all(["lives in Lyon", "lives in Porto", "lives in Rome", "has a cat"])
    with api.parts.database.transaction(caller.project_id) as tx:
        for old, new in ((oldest, older), (older, newest)):
            assert tx.memories.close(old, "superseded", new, "changed", datetime.now(UTC))
    assert caller.get(f"/v1/memories/{oldest}/")["replaced_by"] == older
    assert caller.get(f"/v1/memories/{oldest}/")["lifecycle_state"] == "superseded"
    answer = caller.expect(200, "DELETE", f"/v1/memories/{newest}/?delete_linked=true")
    assert answer == {"message": "Memory deleted successfully!", "cascade_count": 2}
    assert [caller.send("GET", f"/v1/memories/{id_}/").status for id_ in (oldest, older, newest, apart)] == [
        404,
        404,
        404,
        200,
    ]
    alone = caller.expect(200, "DELETE", f"/v1/memories/{apart}/?delete_linked=true")
    assert alone["cascade_count"] == 0


@pytest.mark.parametrize("error", [IndexUnavailable, TransactionConflict, DatabaseUnavailable])
def test_changes_stand_when_they_cannot_be_projected_and_are_noted_for_the_projector(
    api: World, caller: Caller, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    """The index is away, another projector holds the rows, or the database goes just after the commit."""
    memory_id = caller.add("I love hiking")

    def away(*_: Any, **__: Any) -> None:
        raise error("down")

    with monkeypatch.context() as down:
        down.setattr(api.parts.runtime.index, "upsert", away)
        down.setattr(api.parts.runtime.index, "delete", away)
        assert put(caller, memory_id, {"text": "I love sailing"}).status == 200
    with api.parts.database.operations() as tx:
        pending = tx.projections.pending(-1, 100)
    assert [str(id_) for project, id_ in pending if project == caller.project_id] == [memory_id]


def test_batches_update_and_delete_all_or_nothing(caller: Caller) -> None:
    first, second, third = caller.add_all(["I love hiking", "I love sailing", "I love skiing"])
    body = {"memories": [{"memory_id": first, "text": "one"}, {"memory_id": second, "metadata": {"a": 1}}]}
    assert caller.expect(200, "PUT", "/v1/batch/", body) == {"message": "Successfully updated 2 memories"}
    assert caller.get(f"/v1/memories/{first}/")["memory"] == "one"
    assert caller.get(f"/v1/memories/{second}/")["metadata"] == {"a": 1}
    broken = {"memories": [{"memory_id": third, "text": "three"}, {"memory_id": str(uuid4()), "text": "x"}]}
    reply = caller.send("PUT", "/v1/batch/", broken)
    assert (reply.status, reply.body["pointer"]) == (404, "memories[1]")
    clash = {"memories": [{"memory_id": third, "text": "three"}, {"memory_id": second, "text": "one"}]}
    assert caller.send("PUT", "/v1/batch/", clash).status == 409
    assert caller.get(f"/v1/memories/{third}/")["memory"] == "I love skiing"
    gone = {"memories": [{"memory_id": first}, {"memory_id": second}, {"memory_id": first}]}
    assert caller.expect(200, "DELETE", "/v1/batch/", gone) == {"message": "Successfully deleted 2 memories"}
    assert list(caller.points()) == [third]
    assert caller.send("DELETE", "/v1/batch/", gone).status == 404


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_batches_are_bounded_and_checked(caller: Caller, method: str) -> None:
    word = {"PUT": "updated", "DELETE": "deleted"}[method]
    many = {"memories": [{"memory_id": str(uuid4()), "text": "x"}] * 1001}
    reply = caller.send(method, "/v1/batch/", many)
    assert reply.status == 400
    assert reply.body["error"] == f"Maximum of 1000 memories can be {word} in a single request"
    assert caller.expect(200, method, "/v1/batch/", {"memories": []})["message"].startswith("Successfully")
    bad = caller.send(method, "/v1/batch/", {"memories": [{"memory_id": "abc", "text": "x"}]})
    assert (bad.status, bad.body["pointer"]) == (400, "memories[0].memory_id")
    assert caller.send(method, "/v1/batch/", {}).status == 400
    assert caller.send(method, "/v1/batch/").status == 400


def test_the_history_feed_covers_the_project_newest_first(caller: Caller) -> None:
    first, second = caller.add_all(["I love hiking", "I love sailing"])
    put(caller, first, {"text": "I love skiing"})
    feed = caller.get("/v1/memories/events/?limit=2")
    assert feed["count"] == 3
    assert [(entry["memory_id"], entry["event"]) for entry in feed["results"]] == [(first, "UPDATE"), (second, "ADD")]
    assert "limit=2" in feed["next"]
