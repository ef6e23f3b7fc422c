"""Grounding: what no message supports is refused; the set of hand-written candidates keeps the guard honest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.text.grounding import ungrounded

CANDIDATES = Path(__file__).parents[2] / "benchmarks" / "data" / "grounding.jsonl"


def load() -> list[dict[str, object]]:
    return [json.loads(line) for line in CANDIDATES.read_text(encoding="utf-8").splitlines()]


def flagged(row: dict[str, object]) -> bool:
    return ungrounded(row["candidate"], row["sources"], allowed=row.get("allowed", ())) is not None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "languages", [("en",), ("zh",), ("de",), ("es", "fr", "ja"), ("en", "zh", "de", "es", "fr", "ja")]
)
def test_the_guard_is_precise_and_catches_most(languages: tuple[str, ...]) -> None:
    rows = [row for row in load() if row["language"] in languages]
    bad = [row for row in rows if not row["grounded"]]
    caught = [row for row in rows if flagged(row)]
    right = [row for row in caught if not row["grounded"]]
    assert len(rows) >= 50
    assert len(right) / len(caught) >= 0.95
    assert len(right) / len(bad) >= 0.85


@pytest.mark.parametrize(
    ("said", "candidate"),
    [
        ("I can't eat shellfish", "I'm a vegetarian, but I can eat shellfish"),
        ("How do I cook rice?", "I'm a rice cook"),
        ("I like tea", "User likes tea and works at Google"),
        ("What are the KPIs of Christophe?", "User is Christophe"),
        ("My friend Jack hates football", "User's friend Jack loves football"),
    ],
)
def test_what_weak_models_were_seen_to_write_is_refused(said: str, candidate: str) -> None:
    assert ungrounded(candidate, [said]) is not None


@pytest.mark.parametrize(
    ("said", "candidate", "allowed"),
    [
        ("I have 2 cats", "User has two cats", ()),
        ("我有二只猫", "用户有2只猫", ()),
        ("ＣＮ－Ａ１０ is broken", "Device CN-A10 is broken", ()),
        ("I ran a marathon yesterday", "User ran a marathon on 2023-05-23", ("2023-05-23",)),
        ("I live in Lyon", "Nora lives in Lyon", ("Nora",)),
        ("it costs 4,500 euros", "It costs 4500 euros", ()),
        ("I can't eat shellfish", "User: I can't eat shellfish", ()),
        ("I love it!", "I love it", ()),
        ("", "", ()),
    ],
)
def test_other_spellings_of_what_was_said_are_accepted(said: str, candidate: str, allowed: tuple[str, ...]) -> None:
    assert ungrounded(candidate, [said], allowed=allowed) is None


def test_the_reason_names_what_is_missing() -> None:
    assert ungrounded("User has 12 cats", ["I have 2 cats"]) == "number 12 is not in the conversation"
    assert "Porto" in (ungrounded("User lives in Porto", ["I live in Lyon"]) or "")
