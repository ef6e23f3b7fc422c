"""C01, C05, C10, C44, C45 on a stack whose chat model answers as scripted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.acceptance.cases.field import Field
from tests.acceptance.conftest import ModelStack
from tests.doubles.model_server import Reply, Request, memories, reply

GOOD = json.dumps({"memories": [{"text": "likes tea"}]})
BAD = "no json at all"


@pytest.mark.parametrize(
    "answer",
    [
        f"Sure, here it is:\n```json\n{GOOD}\n```\nAnything else?",
        '{"memories": [{"text": "likes tea"},]}',
        '{"memories": [{"text": "likes tea"}, {"text": "likes te',
        '{"memories": ["likes tea"]}',
        '{"facts": ["likes tea"]}',
        '{"memories": [{"text": "likes tea \\ud83d"}]}',
        f"{GOOD}\n{GOOD}",
        f"<think>maybe {{a}} or likes coffee</think>{GOOD}",
    ],
)
def test_c01_an_untidy_answer_is_read_and_stored_once(
    with_model: Field, model_stack: ModelStack, answer: str
) -> None:
    model_stack.model.chat.default = reply(answer)
    event = with_model.add("I like tea")
    assert event["status"] == "SUCCEEDED", event
    stored = with_model.listed()
    assert len(stored) == 1
    assert "likes tea" in stored[0]
    assert "coffee" not in stored[0]


@pytest.mark.parametrize(
    ("answer", "finish"), [("", "stop"), (BAD, "stop"), ("<think>likes coffee", "stop"), ('{"memories": [', "length")]
)
def test_c01_an_answer_that_cannot_be_read_is_asked_for_once_more_and_then_fails(
    with_model: Field, model_stack: ModelStack, answer: str, finish: str
) -> None:
    asked: list[Request] = []

    def respond(request: Request) -> Reply:
        asked.append(request)
        return reply(answer, finish)

    model_stack.model.chat.default = respond
    event = with_model.add("I like tea")
    assert (event["status"], event["error"]["code"]) == ("FAILED", "model_output_invalid")
    assert len(asked) == 2
    assert with_model.page()["count"] == 0


def test_c01_the_second_answer_counts(with_model: Field, model_stack: ModelStack) -> None:
    model_stack.model.chat.script(reply(BAD), reply(GOOD))
    assert with_model.add("I like tea")["status"] == "SUCCEEDED"
    assert len(with_model.listed()) == 1


def test_c05_with_a_model_the_old_home_is_superseded_and_linked(with_model: Field, model_stack: ModelStack) -> None:
    model_stack.model.chat.script(memories("User lives in Lyon"))
    (old,) = with_model.stored("I live in Lyon")
    moved: dict[str, Any] = {"text": "User moved to Porto", "supersedes": [{"index": 1, "kind": "changed"}]}
    model_stack.model.chat.script(memories(moved))
    model_stack.model.chat.default = memories(moved)
    (new,) = with_model.stored("I moved to Porto last week")
    closed = with_model.http.get(f"/v1/memories/{old}/").json()
    assert (closed["lifecycle_state"], closed["replaced_by"]) == ("superseded", new)
    found = with_model.texts("where does the user live", threshold=0)
    assert "Porto" in found[0]
    assert len(found) == 2
    assert len(with_model.texts("where does the user live", threshold=0, latest_only=True)) == 1


def test_c10_the_projects_instruction_reaches_the_model(with_model: Field, model_stack: ModelStack) -> None:
    ping = with_model.http.get("/v1/ping/").json()
    path = f"/api/v1/orgs/organizations/{ping['org_id']}/projects/{ping['project_id']}/"
    changed = with_model.http.patch(path, json={"custom_instructions": "never store health data"})
    assert changed.status_code == 200
    model_stack.model.chat.default = memories("User has a cat")
    with_model.add("I have asthma and a cat")
    assert "never store health data" in model_stack.model.chat.requests[-1].text
    assert with_model.listed() == ["User has a cat"]


@pytest.mark.parametrize("linked", [[999], ["not-a-uuid"], [None], [-1], "x"])
def test_c44_ids_that_the_model_invented_are_ignored(with_model: Field, model_stack: ModelStack, linked: Any) -> None:
    item: dict[str, Any] = {"text": "User likes tea", "linked": linked, "supersedes": linked, "merges": linked}
    model_stack.model.chat.default = memories(item)
    assert with_model.add("I like tea")["status"] == "SUCCEEDED"
    assert with_model.listed() == ["User likes tea"]


def test_c45_a_weak_models_repeats_are_one_and_its_inventions_none(
    with_model: Field, model_stack: ModelStack
) -> None:
    model_stack.model.chat.script(memories(*["User likes tea"] * 6))
    with_model.add("I like tea")
    assert with_model.listed() == ["User likes tea"]
    model_stack.model.chat.script(memories("I'm a vegetarian, but I can eat shellfish"))
    flipped = with_model.add("I can't eat shellfish")
    model_stack.model.chat.script(memories("I'm a rice cook"))
    answered = with_model.add("How do I cook rice?")
    assert with_model.listed() == ["User likes tea"]
    for event in (flipped, answered):
        assert [(o["outcome"], o["rule"]) for o in event["outcomes"]] == [("filtered", "ungrounded")]
