"""Checklist 8 to 22: what an add answers, what its event tells, and whose memories come of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from mem0.client.types import AddMemoryOptions
from mem0.exceptions import ValidationError

from tests.acceptance.account import Account, ids, texts
from tests.acceptance.conftest import ModelStack

DIALOGUE = [
    {"role": "user", "content": "I moved from Lyon to Porto in May 2024."},
    {"role": "assistant", "content": "I booked the Hotel Avenida in Porto for your sister."},
]


@pytest.mark.item(8)
def test_08_an_add_is_pending_with_an_event(owner: Account) -> None:
    answer = owner.client.add("I moved to Porto", user_id="u")
    assert answer["status"] == "PENDING"
    assert owner.ended(answer)["status"] == "SUCCEEDED"


@pytest.mark.item(9)
def test_09_the_messages_and_ids_of_the_typescript_client_are_taken(plain: Account) -> None:
    """Its requests, raw: `filters` converted to snake_case, or ids in camelCase inside `filters`."""
    for ids_ in ({"user_id": "u"}, {"filters": {"userId": "u"}}):
        body = {"messages": [{"role": "user", "content": "I moved to Porto"}], "output_format": "v1.1", **ids_}
        answer = plain.http.post("/v3/memories/add/", json=body).json()
        assert answer["status"] == "PENDING"
        assert plain.ended(answer)["user_id"] == "u"


@pytest.mark.item(10)
@pytest.mark.parametrize("typed", [False, True])
def test_10_ids_inside_filters_scope_an_add(owner: Account, typed: bool) -> None:
    given: dict[str, Any] = {"filters": {"user_id": "u", "run_id": "r"}, "infer": False}
    if typed:
        results = owner.remember("I moved to Porto", options=AddMemoryOptions(**given))
    else:
        results = owner.remember("I moved to Porto", **given)
    row = owner.client.get(results[0]["id"])
    assert (row["user_id"], row["agent_id"], row["run_id"]) == ("u", None, "r")
    assert owner.listed(filters={"user_id": "somebody else"}) == []


@pytest.mark.item(11)
def test_11_an_event_ends_with_its_memories_its_times_and_its_latency(owner: Account) -> None:
    accepted = owner.client.add(DIALOGUE[0], user_id="u", metadata={"a": 1})
    early = owner.http.get(f"/v1/event/{accepted['event_id']}/").json()
    assert early["status"] in ("PENDING", "RUNNING", "SUCCEEDED")
    event = owner.ended(accepted)
    assert (event["id"], event["event_type"], event["status"]) == (accepted["event_id"], "ADD", "SUCCEEDED")
    [result] = event["results"]
    assert (result["event"], result["user_id"]) == ("ADD", "u")
    assert result["data"]["memory"] == result["memory"] == owner.client.get(result["id"])["memory"]
    assert isinstance(event["latency"], float)
    times = [datetime.fromisoformat(event[key]) for key in ("created_at", "started_at", "completed_at")]
    assert times == sorted(times)
    assert event["payload"]["metadata"] == {"a": 1}


@pytest.mark.item(13)
def test_13_verbatim_keeps_every_user_and_assistant_message_with_all_ids(owner: Account) -> None:
    messages = [{"role": "system", "content": "You are a travel agent."}, *DIALOGUE]
    answer = owner.client.add(messages, user_id="u", agent_id="a", run_id="r", infer=False)
    assert answer["status"] == "PENDING"
    event = owner.ended(answer)
    assert event["status"] == "SUCCEEDED"
    assert [result["data"]["memory"] for result in event["results"]] == [m["content"] for m in DIALOGUE]
    for result in event["results"]:
        row = owner.client.get(result["id"])
        assert (row["user_id"], row["agent_id"], row["app_id"], row["run_id"]) == ("u", "a", None, "r")


@pytest.mark.item(13)
def test_13_async_mode_false_answers_with_the_results(owner: Account) -> None:
    answer = owner.client.add(DIALOGUE, user_id="u", infer=False, async_mode=False)
    assert answer["status"] == "SUCCEEDED"
    assert texts(answer["results"]) == [message["content"] for message in DIALOGUE]


@pytest.mark.item(14)
def test_14_the_same_messages_again_make_no_second_row(owner: Account) -> None:
    first = owner.remember(DIALOGUE, user_id="u", infer=False)
    event = owner.ended(owner.client.add(DIALOGUE, user_id="u", infer=False))
    assert (event["status"], event["results"], event["reason"]) == ("SUCCEEDED", [], "all_duplicates")
    assert ids(owner.listed(filters={"user_id": "u"})) == ids(first)


@pytest.mark.item(15)
@pytest.mark.parametrize(
    ("messages", "more"),
    [("I ski", {}), ("I ski", {"metadata": {"user_id": "u"}}), ([], {"user_id": "u"}), ("", {"user_id": "u"})],
)
def test_15_an_add_without_an_id_or_without_messages_is_refused(
    owner: Account, messages: Any, more: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError) as refused:
        owner.client.add(messages, **more)
    assert refused.value.details["details"]["message"] == refused.value.details["detail"]
    assert owner.http.get("/v1/events/").json()["count"] == 0


@pytest.mark.item(16)
def test_16_each_side_of_a_conversation_owns_its_own_facts(owner: Account) -> None:
    owner.remember(DIALOGUE, user_id="u", agent_id="a", app_id="p", run_id="r")
    rows = owner.listed(filters={"OR": [{"user_id": "u"}, {"agent_id": "a"}]})
    whose = {(row["user_id"], row["agent_id"], row["app_id"], row["run_id"]) for row in rows}
    assert whose == {("u", None, "p", "r"), (None, "a", "p", "r")}
    [by_user] = [row["memory"] for row in rows if row["user_id"]]
    [by_agent] = [row["memory"] for row in rows if row["agent_id"]]
    assert "Lyon" in by_user
    assert "Hotel Avenida" in by_agent


@pytest.mark.item(18)
def test_18_a_calls_own_categories_replace_the_projects(modelled: Account) -> None:
    said = "The billing address is in Porto and I love music."
    [result] = modelled.remember(said, user_id="u", custom_categories=[{"billing": "invoices and addresses"}])
    assert modelled.client.get(result["id"])["categories"] == ["billing"]
    [other] = modelled.remember("My billing clerk loves music.", user_id="u")
    assert modelled.client.get(other["id"])["categories"] == ["music"]
    with pytest.raises(ValidationError, match="Expected a dictionary of items but got type"):
        modelled.client.add("I ski", user_id="u", custom_categories=["billing"])
    assert modelled.client.project.get()["custom_categories"] is None


@pytest.mark.item(19)
def test_19_instructions_of_the_call_reach_the_model_on_the_side_they_are_for(
    modelled: Account, model_stack: ModelStack
) -> None:
    calls = model_stack.model.chat.requests
    own = {"custom_instructions": "Never store health data.", "agent_custom_instructions": "Keep the bookings."}
    modelled.remember("I moved to Porto", user_id="u", **own)
    assert "Never store health data." in calls[-1].text
    assert "Keep the bookings." not in calls[-1].text
    modelled.remember({"role": "assistant", "content": "I booked the Hotel Avenida"}, agent_id="a", **own)
    assert "Keep the bookings." in calls[-1].text
    assert "Never store health data." not in calls[-1].text


@pytest.mark.item(20)
def test_20_a_timestamp_becomes_the_time_of_the_memory(owner: Account) -> None:
    [result] = owner.remember("I moved to Porto", user_id="u", infer=False, timestamp=1672531200)
    row = owner.client.get(result["id"])
    assert datetime.fromisoformat(row["created_at"]) == datetime.fromisoformat("2023-01-01T00:00:00+00:00")
    assert row["structured_attributes"] == {
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


@pytest.mark.item(22)
@pytest.mark.parametrize("infer", [True, False])
def test_22_content_as_a_list_of_parts_is_read(owner: Account, infer: bool) -> None:
    parts = [{"type": "text", "text": "I moved to Porto."}, {"type": "text", "text": "My dog is called Bento."}]
    results = owner.remember([{"role": "user", "content": parts}], user_id="u", infer=infer)
    stored = " ".join(texts(results))
    assert "Porto" in stored
    assert "Bento" in stored
