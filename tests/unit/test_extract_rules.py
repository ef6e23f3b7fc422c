"""Extraction without a model: what it can do of what it is asked."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from core.domain.memory import Turn
from core.domain.scope import Scope
from core.ports.extraction import Extraction, ExtractionRequest, Instructions
from core.services.extract_rules import RuleExtractor

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


def extract(*turns: tuple[str, str], **more: Any) -> Extraction:
    made = [Turn(index, role, text, NOW) for index, (role, text) in enumerate(turns)]
    fields: dict[str, Any] = {"scope": Scope(user_id="u"), "earlier": [], "shown": [], "now": NOW}
    return RuleExtractor().extract(ExtractionRequest(turns=made, **(fields | more)))


def test_facts_are_kept_and_cost_nothing() -> None:
    extraction = extract(("user", "I can't eat shellfish."))
    assert ["shellfish" in candidate.text for candidate in extraction.candidates] == [True]
    assert extraction.usage.model_calls == 0


def test_only_people_are_a_source() -> None:
    turns = [(role, "I can't eat shellfish.") for role in ("system", "developer", "tool")]
    assert extract(*turns).candidates == []


@pytest.mark.parametrize("excludes", ["shellfish", "salary, eating shellfish", "money; SHELLFISH", "eats shellfish"])
def test_excluded_words_filter_and_are_told(excludes: str) -> None:
    extraction = extract(("user", "I can't eat shellfish."), instructions=Instructions(excludes=excludes))
    assert extraction.candidates == []
    assert [(outcome.outcome, outcome.rule) for outcome in extraction.dropped] == [("filtered", "excluded")]


@pytest.mark.parametrize("excludes", [None, "", " , ", "shellfish toxins"])
def test_a_phrase_excludes_only_what_holds_all_its_words(excludes: str | None) -> None:
    extraction = extract(("user", "I can't eat shellfish."), instructions=Instructions(excludes=excludes))
    assert len(extraction.candidates) == 1


def test_a_run_becomes_one_memory_of_its_steps() -> None:
    (found,) = extract(
        ("system", "You are Helper"),
        ("user", "fix the build"),
        ("assistant", "ran make test"),
        ("tool", "3 failures\nin api.py"),
        memory_type="procedural_memory",
    ).candidates
    assert found.text == "1. user: fix the build\n2. assistant: ran make test\n3. tool: 3 failures in api.py"
    assert (found.memory_type, found.attributed_to) == ("procedural_memory", "assistant")


def test_a_run_without_steps_is_no_memory() -> None:
    assert extract(("system", "You are Helper"), memory_type="procedural_memory").candidates == []
