"""Patterns: what is stored of a model's answer, once, with its evidence, and for as long as that holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.domain.scope import Scope
from core.ports.models import ModelError
from core.services.change import Target
from core.services.delete_memory import delete_memory
from core.services.listing import ListQuery, list_memories
from core.services.synthesize import synthesize_due
from core.services.update_memory import Change, update_memory
from tests.doubles.chat import ScriptedChat, give_chat
from tests.doubles.pipeline import Pipeline

NOTES = [
    "User went hiking in the Vosges on Saturday",
    "User bought new hiking boots",
    "User plans a hiking trip to Norway",
    "User is allergic to walnuts",
    "User works as a nurse",
    "User has a cat called Miso",
    "User reads crime novels",
    "User joined a hiking club",
]


def answer(*patterns: tuple[str, Sequence[Any]]) -> str:
    return json.dumps({"patterns": [{"text": told, "evidence": list(shown)} for told, shown in patterns]})


# the newest note has the number 1
HIKING = answer(("User often goes hiking", [1, 6, 7, 8]))


def with_notes(
    pipeline: Pipeline, *replies: str | Exception, notes: Sequence[str] = NOTES, wanted: bool = True
) -> ScriptedChat:
    for note in notes:
        pipeline.add(note, infer=False)
    pipeline.drain_all()
    return give_chat(pipeline, ScriptedChat(*replies, default='{"patterns": []}'), synthesis=wanted)


def patterns(pipeline: Pipeline) -> list[Any]:
    return pipeline.memories("synthesized AND state = 'active'")


def later(pipeline: Pipeline) -> None:
    """The pause between two looks has passed."""
    with pipeline.database.operations() as tx:
        tx.connection.execute(text("UPDATE syntheses SET ran_at = ran_at - interval '2 days'"))


def ids(pipeline: Pipeline, word: str) -> list[UUID]:
    return [row.id for row in pipeline.memories(f"state = 'active' AND NOT synthesized AND memory LIKE '%{word}%'")]


def test_a_pattern_is_a_memory_of_the_scope_that_names_its_evidence(pipeline: Pipeline) -> None:
    chat = with_notes(pipeline, HIKING)
    assert synthesize_due(pipeline.runtime) == 1
    [pattern] = patterns(pipeline)
    assert (pattern.memory, pattern.user_id, pattern.memory_type) == ("User often goes hiking", "ann", "pattern")
    assert set(pattern.evidence) == set(ids(pipeline, "hiking"))
    assert pattern.id in pipeline.indexed()
    assert "1. User joined a hiking club" in chat.prompts[0]
    query = ListQuery(pipeline.project, {"user_id": "ann"}, pipeline.runtime.clock.now())
    assert pattern.memory in [memory.memory for memory in list_memories(pipeline.database, query).items]
    with pipeline.database.operations() as tx:
        told = tx.connection.execute(
            text("SELECT event FROM history WHERE memory_id = :id"), {"id": pattern.id}
        ).one()
    assert told.event == "ADD"


def test_it_is_opt_in_and_needs_a_model_and_enough_memories(pipeline: Pipeline) -> None:
    chat = with_notes(pipeline, wanted=False)
    assert synthesize_due(pipeline.runtime) == 0
    give_chat(pipeline, chat, synthesis=True)
    models = replace(pipeline.runtime.models, chat=None)
    assert synthesize_due(replace(pipeline.runtime, models=models)) == 0
    with pipeline.database.operations() as tx:
        tx.connection.execute(
            text("UPDATE memories SET state = 'expired' WHERE project_id = :p AND memory LIKE '%novels'"),
            {"p": pipeline.project},
        )
    assert synthesize_due(pipeline.runtime) == 0
    assert chat.prompts == []


def test_unchanged_memories_are_not_looked_at_again_nor_before_the_pause(pipeline: Pipeline) -> None:
    chat = with_notes(pipeline, HIKING)
    synthesize_due(pipeline.runtime)
    pipeline.add("User sings in a choir", infer=False)
    pipeline.drain_all()
    assert synthesize_due(pipeline.runtime) == 0  # the pause has not passed
    assert len(chat.prompts) == 1
    later(pipeline)
    synthesize_due(pipeline.runtime)
    assert len(chat.prompts) == 2  # another memory: looked at
    later(pipeline)
    synthesize_due(pipeline.runtime)
    assert len(chat.prompts) == 2  # nothing new: no call
    assert len(patterns(pipeline)) == 1


def test_the_same_evidence_in_other_words_is_the_same_pattern(pipeline: Pipeline) -> None:
    with_notes(
        pipeline,
        answer(("User often goes hiking", [1, 7, 8]), ("User likes hiking trips", [1, 6, 7, 8])),
        answer(("User is a keen hiker and likes hiking", [2, 7, 8, 9]), ("User often goes hiking", [1, 2, 7])),
    )
    assert synthesize_due(pipeline.runtime) == 1
    pipeline.add("User wants a hiking map", infer=False)
    pipeline.drain_all()
    later(pipeline)
    assert synthesize_due(pipeline.runtime) == 0
    [pattern] = patterns(pipeline)
    assert pattern.memory == "User often goes hiking"
    assert set(pattern.evidence) == set(ids(pipeline, "hiking"))  # widened by what it lacked


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("User often goes hiking", [1, 6]),
        ("User often goes hiking", [1, 1, 1]),
        ("User often goes hiking", [1, 6, 99]),
        ("User often goes hiking", ["1", True, None]),
        ("User often goes hiking in Peru", [1, 6, 7, 8]),
        ("User never goes hiking", [1, 6, 7, 8]),
        ("User owns 12 pairs of hiking boots", [1, 6, 7, 8]),
        ("User is depressed and avoids people", [1, 6, 7, 8]),
        ("Does the user like hiking?", [1, 6, 7, 8]),
        ("User joined a hiking club", [1, 6, 7, 8]),
        ("", [1, 6, 7, 8]),
    ],
)
def test_what_is_not_a_supported_pattern_is_not_stored(pipeline: Pipeline, told: str, shown: list[Any]) -> None:
    with_notes(pipeline, answer((told, shown)))
    assert synthesize_due(pipeline.runtime) == 0
    assert patterns(pipeline) == []


def test_a_pattern_goes_with_its_evidence(pipeline: Pipeline) -> None:
    with_notes(pipeline, HIKING)
    synthesize_due(pipeline.runtime)
    [pattern] = patterns(pipeline)
    kept = ids(pipeline, "novels")[0]
    delete_memory(pipeline.runtime, Target(pipeline.project, kept))
    synthesize_due(pipeline.runtime)
    assert [row.id for row in patterns(pipeline)] == [pattern.id]  # not its evidence
    delete_memory(pipeline.runtime, Target(pipeline.project, ids(pipeline, "boots")[0]))
    synthesize_due(pipeline.runtime)
    assert patterns(pipeline) == []
    assert pattern.id not in pipeline.indexed()


def test_a_look_after_a_change_finds_the_pattern_again(pipeline: Pipeline) -> None:
    chat = with_notes(pipeline, HIKING, answer(("User often goes hiking", [1, 7, 8])))
    synthesize_due(pipeline.runtime)
    reworded = Target(pipeline.project, ids(pipeline, "novels")[0])
    update_memory(pipeline.runtime, reworded, Change(text="User reads poems"))
    later(pipeline)
    synthesize_due(pipeline.runtime)
    assert len(chat.prompts) == 2
    assert len(patterns(pipeline)) == 1


def test_an_outage_is_tried_again_and_nonsense_waits_for_the_next_look(pipeline: Pipeline) -> None:
    chat = with_notes(pipeline, ModelError("down"), "no", "still no", HIKING)
    assert synthesize_due(pipeline.runtime) == 0
    with pipeline.database.operations() as tx:
        tx.connection.execute(text("UPDATE syntheses SET ran_at = ran_at - interval '11 minutes'"))
    assert synthesize_due(pipeline.runtime) == 0  # unreadable, twice
    assert len(chat.prompts) == 3
    assert synthesize_due(pipeline.runtime) == 0
    assert len(chat.prompts) == 3
    later(pipeline)
    assert synthesize_due(pipeline.runtime) == 1
    codes = [told.get("code") for told in pipeline.signals.named("upkeep") if told["task"] == "synthesize"]
    assert codes == ["model_unavailable", "model_output_invalid", None]


def test_agents_memories_and_other_scopes_are_left_alone(pipeline: Pipeline) -> None:
    for number, note in enumerate(NOTES):
        pipeline.add(note, infer=False, scope=Scope(agent_id="helper"))
        pipeline.add(note, infer=False, scope=Scope(user_id="ann", run_id=f"r{number}"))
    pipeline.drain_all()
    chat = give_chat(pipeline, ScriptedChat(default=HIKING), synthesis=True)
    assert synthesize_due(pipeline.runtime) == 0
    assert chat.prompts == []


def test_patterns_are_not_each_others_conversation(pipeline: Pipeline) -> None:
    with_notes(
        pipeline, answer(("User often goes hiking", [1, 6, 7]), ("User reads novels and works as a nurse", [2, 3, 4]))
    )
    synthesize_due(pipeline.runtime)
    assert len({row.lane_key for row in patterns(pipeline)}) == 2
