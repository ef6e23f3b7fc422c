"""docs/states.md and the table in core/domain/events.py say the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.domain.events import ENDED_STATES, OPEN_STATES, TRANSITIONS, WIRE_STATUS, EventState

PAGE = (Path(__file__).parents[2] / "docs" / "states.md").read_text(encoding="utf-8")


def test_the_diagram_draws_every_move_and_no_other() -> None:
    drawn = set(re.findall(r"^    (\w+) --> (\w+)$", PAGE, re.MULTILINE))
    moves = {(state.value, target.value) for state, targets in TRANSITIONS.items() for target in targets}
    assert drawn == moves


def test_the_wire_words_are_those_that_clients_get() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| `([A-Z]+)` \|$", PAGE, re.MULTILINE))
    assert rows == {state.value: word for state, word in WIRE_STATUS.items()}


def test_every_state_is_open_or_ended_and_only_ended_ones_may_have_no_way_out() -> None:
    assert set(OPEN_STATES) | set(ENDED_STATES) == set(EventState)
    assert not set(OPEN_STATES) & set(ENDED_STATES)
    assert all(TRANSITIONS[state] for state in OPEN_STATES)


@pytest.mark.parametrize("state", list(EventState))
def test_every_state_has_its_paragraph_with_its_movers_and_its_purge(state: EventState) -> None:
    paragraph = PAGE.split(f"### `{state.value}`\n", 1)[1].split("\n### ", 1)[0]
    told, purge = paragraph.split("**Purged:**")
    assert len(told.split()) >= 15
    assert purge.strip()
    for target in TRANSITIONS[state]:
        assert f"`{target.value}`" in told, f"{state.value} → {target.value} is not explained"
