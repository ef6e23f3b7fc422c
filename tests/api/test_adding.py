"""Add over HTTP: what is accepted, what is refused with which field, and what its event tells."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from core.domain.errors import MemlaneError
from core.services.drain import drain
from tests.api.world import Caller, World, until

HIKING = [{"role": "user", "content": "I love hiking"}]


def add(caller: Caller, path: str = "/v3/memories/add/", **body: Any) -> Any:
    return caller.send("POST", path, {"messages": HIKING, "user_id": "u", **body})


def test_an_add_is_pending_at_once_and_its_event_is_found_on_every_path(caller: Caller) -> None:
    accepted = add(caller).body
    assert accepted["status"] == "PENDING"
    assert set(accepted) == {"message", "status", "event_id"}
    for path in ("/v1/event/", "/v1/events/", "/event/"):
        event = caller.get(path + accepted["event_id"])
        assert (event["id"], event["status"], event["event_type"]) == (accepted["event_id"], "PENDING", "ADD")
    assert event["payload"]["messages"] == HIKING
    assert event["latency"] is None


def test_an_event_ends_with_its_memories_and_times(caller: Caller) -> None:
    event_id = add(caller, infer=False, agent_id="a", run_id="r").body["event_id"]
    caller.world.settle()
    event = caller.get(f"/v1/event/{event_id}/")
    assert event["status"] == "SUCCEEDED"
    [result] = event["results"]
    assert (result["event"], result["memory"], result["data"]["memory"]) == ("ADD", "I love hiking", "I love hiking")
    assert isinstance(event["latency"], float)
    for field in ("created_at", "updated_at", "started_at", "completed_at"):
        assert event[field].endswith("+00:00")
    memory = caller.get(f"/v1/memories/{result['id']}/")
    assert (memory["user_id"], memory["agent_id"], memory["run_id"], memory["session_id"]) == ("u", "a", "r", "r")


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"user_id": ""}, "user_id"),
        ({"user_id": " "}, "user_id"),
        ({"user_id": 5}, "user_id"),
        ({"user_id": "*"}, "user_id"),
        ({"user_id": ".."}, "user_id"),
        ({"user_id": "a\nb"}, "user_id"),
        ({"user_id": "x" * 257}, "user_id"),
        ({"user_id": ["u"]}, "user_id"),
        ({"messages": []}, "messages"),
        ({"messages": None}, "messages"),
        ({"messages": 7}, "messages"),
        ({"messages": [*HIKING, {"role": "user", "content": ""}]}, "messages[1]"),
        ({"messages": [*HIKING, {"role": "user"}]}, "messages[1]"),
        ({"messages": [*HIKING, {"role": "user", "content": 5}]}, "messages[1].content"),
        ({"messages": [{"role": "root", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"content": [{"type": "text"}]}]}, "messages[0].content"),
        ({"messages": ["x"]}, "messages[0]"),
        ({"infer": "yes"}, "infer"),
        ({"metadata": "x"}, "metadata"),
        ({"timestamp": "soon"}, "timestamp"),
        ({"timestamp": 10**15}, "timestamp"),
        ({"expiration_date": "20250101"}, "expiration_date"),
        ({"expiration_date": "2026-02-30"}, "expiration_date"),
        ({"expiration_date": "garbage"}, "expiration_date"),
        ({"custom_categories": ["billing"]}, "custom_categories"),
        ({"includes": " "}, "includes"),
        ({"memory_type": "procedural_memory"}, "agent_id"),
        ({"filters": {"user_id": "other"}}, "user_id"),
        ({"filters": {"user_id": ""}}, "filters.user_id"),
    ],
)
def test_bad_input_is_400_naming_the_field_and_makes_no_event(
    caller: Caller, body: dict[str, Any], pointer: str
) -> None:
    reply = add(caller, **body)
    assert (reply.status, reply.body["error"]) == (400, "400 Bad Request")
    assert reply.body["pointer"].startswith(pointer)
    assert reply.body["details"]["message"] == reply.body["detail"]
    assert caller.get("/v1/events/")["count"] == 0


@pytest.mark.parametrize("ids", [{}, {"user_id": None}, {"user_id": None, "filters": {}}])
def test_an_add_without_ids_is_refused(caller: Caller, ids: dict[str, Any]) -> None:
    reply = caller.send("POST", "/v3/memories/add/", {"messages": HIKING, **ids})
    assert (reply.status, reply.body["code"]) == (400, "scope_missing")


def test_bare_category_names_are_refused_with_the_documented_text(caller: Caller) -> None:
    assert 'Expected a dictionary of items but got type "str"' in add(caller, custom_categories=["a"]).body["detail"]


@pytest.mark.parametrize(
    "messages",
    [
        "I love hiking",
        {"role": "user", "content": "I love hiking"},
        [{"role": "user", "content": [{"type": "text", "text": "I love hiking"}]}],
        [{"role": "user", "content": {"type": "text", "text": "I love hiking"}}],
        [
            {"role": "developer", "content": "be brief"},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
            {"role": "tool", "content": ""},
            {"role": "user", "content": "I love hiking", "name": "Ana", "timestamp": "2026-01-02T03:04:05Z"},
        ],
    ],
)
def test_every_shape_of_messages_is_read(caller: Caller, messages: Any) -> None:
    accepted = add(caller, messages=messages, infer=False).body
    caller.world.settle()
    assert [r["memory"] for r in caller.get(f"/v1/event/{accepted['event_id']}/")["results"]] == ["I love hiking"]


def test_ids_may_stand_inside_filters_and_unknown_keys_are_let_through(caller: Caller) -> None:
    extras = {"output_format": "v1.1", "enable_graph": False, "unheard_of": 1}
    body = {"messages": HIKING, "filters": {"userId": "inside"}, **extras}
    event = caller.get(f"/v1/event/{caller.expect(200, 'POST', '/v3/memories/add/', body)['event_id']}/")
    assert event["user_id"] == "inside"


def test_metadata_cannot_set_identity_and_says_so(caller: Caller) -> None:
    accepted = add(caller, infer=False, metadata={"user_id": "bob", "sku": "S-9", "nested": {"a": [1]}}).body
    assert accepted["warnings"] == ["metadata.user_id was ignored: metadata cannot set identity"]
    caller.world.settle()
    [result] = caller.get(f"/v1/event/{accepted['event_id']}/")["results"]
    assert caller.get(f"/v1/memories/{result['id']}/")["metadata"] == {"sku": "S-9", "nested": {"a": [1]}}


def test_more_conversation_than_64_windows_is_413_unless_it_is_stored_verbatim(caller: Caller) -> None:
    long = [{"role": "user", "content": "word " * 40_000}] * 8
    reply = add(caller, messages=long)
    assert (reply.status, reply.body["code"]) == (413, "too_many_windows")
    assert add(caller, messages=long, infer=False).status == 200
    caller.world.settle()


def test_the_source_is_kept_on_the_event(caller: Caller) -> None:
    for source, kept in (("CLI", "CLI"), ("n8n", "N8N"), ("my app", "OTHERS")):
        event_id = add(caller, source=source).body["event_id"]
        assert caller.get(f"/v1/event/{event_id}/")["source"] == kept


def test_an_idempotency_key_gives_the_same_event_and_refuses_another_body(caller: Caller) -> None:
    key = {"Idempotency-Key": "k-1"}
    body = {"messages": HIKING, "user_id": "u"}
    first = caller.send("POST", "/v3/memories/add/", body, key)
    again = caller.send("POST", "/v3/memories/add/", {**body, "source": "CLI"}, key)
    assert again.body["event_id"] == first.body["event_id"]
    assert again.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    other = caller.send("POST", "/v3/memories/add/", {**body, "user_id": "v"}, key)
    assert (other.status, other.body["code"]) == (422, "idempotency_mismatch")


@pytest.mark.parametrize("key", ["", "a b", "é", "x" * 256])
def test_a_bad_idempotency_key_is_400(caller: Caller, key: str) -> None:
    reply = caller.send("POST", "/v3/memories/add/", {"messages": HIKING, "user_id": "u"}, {"Idempotency-Key": key})
    assert (reply.status, reply.body["code"]) == (400, "idempotency_key_invalid")


def test_async_mode_false_answers_with_the_outcome(api: World, caller: Caller) -> None:
    api.queue.on_wake = lambda: threading.Thread(target=drain, args=(api.executor,), daemon=True).start()
    try:
        answer = add(caller, infer=False, async_mode=False).body
        assert (answer["status"], [r["memory"] for r in answer["results"]]) == ("SUCCEEDED", ["I love hiking"])
        old = add(caller, "/v1/memories/", infer=False, async_mode=False, user_id="v").body
        assert [r["event"] for r in old["results"]] == ["ADD"]
        assert old["relations"] == []
    finally:
        api.queue.on_wake = None


def test_v1_answers_in_the_shapes_of_old_clients(caller: Caller) -> None:
    [pending] = add(caller, "/v1/memories/").body
    assert pending["status"] == "PENDING"
    wrapped = add(caller, "/v1/memories/", output_format="v1.1", version="v2").body
    assert (wrapped["relations"], wrapped["results"][0]["status"]) == ([], "PENDING")


def test_a_failed_event_is_done_again_on_request_and_no_other(api: World, caller: Caller) -> None:
    body = {"messages": HIKING, "user_id": "u", "infer": False}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(api.embedder, "embed_passages", _refusing)
        failed = caller.expect(200, "POST", "/v3/memories/add/", body)["event_id"]
        until(lambda: _status_after_work(caller, failed) == "FAILED")
    event = caller.get(f"/v1/event/{failed}/")
    assert event["error"]["code"] == "model_rejected"
    assert event["message"] == event["error"]["detail"]
    again = caller.expect(200, "POST", f"/v1/event/{failed}/retry/")
    assert (again["id"], again["status"], again["error"]) == (failed, "PENDING", None)
    caller.world.settle()
    assert [r["memory"] for r in caller.get(f"/v1/event/{failed}/")["results"]] == ["I love hiking"]
    refused = caller.send("POST", f"/v1/event/{failed}/retry/")
    assert (refused.status, refused.body["code"]) == (409, "event_not_retryable")
    assert api.project().send("POST", f"/v1/event/{failed}/retry/").status == 404


def _refusing(texts: Any) -> Any:
    raise MemlaneError("model_rejected")


def _status_after_work(caller: Caller, event_id: str) -> str:
    caller.world.settle()
    return str(caller.get(f"/v1/event/{event_id}/")["status"])


def test_unknown_and_foreign_events_are_the_same_404(api: World, caller: Caller) -> None:
    foreign = add(api.project()).body["event_id"]
    own = add(caller).body["event_id"]
    odd = (own.replace("-", ""), f"%7B{own}%7D", f"urn:uuid:{own}", own + "%0a")
    assert caller.get(f"/v1/event/{own.upper()}/")["id"] == own
    strangers = (foreign, "0" * 8, foreign.replace("0", "1"), "%0a", *odd)
    answers = [caller.send("GET", f"/v1/event/{id_}/") for id_ in strangers]
    assert {(reply.status, reply.raw) for reply in answers} == {(404, answers[0].raw)}
    assert answers[0].body["error"] == "Event not found or you don't have permission to access it."


def test_events_are_listed_newest_first_in_pages(caller: Caller) -> None:
    ids = [add(caller, user_id=f"u{n}").body["event_id"] for n in range(5)]
    first = caller.get("/v1/events/?page_size=2")
    assert (first["count"], first["previous"]) == (5, None)
    assert [event["id"] for event in first["results"]] == ids[:-3:-1]
    assert first["next"].startswith(caller.world.server.url + "/v1/events/?")
    second = caller.get(first["next"].removeprefix(caller.world.server.url))
    third = caller.get(second["next"].removeprefix(caller.world.server.url))
    assert ([event["id"] for event in third["results"]], third["next"]) == ([ids[0]], None)
    beyond = caller.send("GET", "/v1/events/?page=99")
    assert (beyond.status, beyond.body["detail"]) == (404, "Invalid page.")
    assert caller.get("/v1/events/?user_id=u3")["count"] == 1
    assert caller.get("/v1/events/?status=PENDING,RUNNING&event_type=ADD")["count"] == 5
    assert caller.get("/v1/events/?status=FAILED")["count"] == 0
