"""What the memories around a candidate add to it, as far as they were recalled themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from core.domain.conversation import CONTEXT_GAP

_NEARER, _FARTHER = 2 / 3, 1 / 3  # shares of the positions one and two away


class Place(NamedTuple):
    """Where in which conversation a memory stands."""

    scope_key: str
    lane_key: str
    position: int
    said_at: datetime
    run_id: str | None = None


class Around(NamedTuple):
    """`before` and `after`: the weighed dense evidence of the two positions each way; `session`: the mean of the
    session's best lexical evidence. All 0..1."""

    before: float
    after: float
    session: float


@dataclass(frozen=True)
class Assumed:
    """`floor`: the dense evidence of what was not recalled, at most. `alone`: the share of a candidate's own
    that a position without a recalled memory is given at least. `best`: how many matches stand for a session."""

    floor: float
    alone: float
    best: int


def surroundings(
    places: Sequence[Place], dense: Sequence[float], words: Sequence[float], assumed: Assumed
) -> list[Around]:
    """What stands around each candidate. `dense` and `words` are its own evidence, calibrated to 0..1."""
    found = [Around(0.0, 0.0, 0.0)] * len(places)
    for session in _sessions(places):
        at: dict[int, float] = {}
        for index in session:
            position = places[index].position
            at[position] = max(dense[index], at.get(position, 0.0))
        strongest = sorted((words[index] for index in session), reverse=True)[: assumed.best]
        mean = sum(strongest) / len(strongest)
        for index in session:
            position, missing = places[index].position, max(assumed.floor, assumed.alone * dense[index])
            before = _NEARER * at.get(position - 1, missing) + _FARTHER * at.get(position - 2, missing)
            after = _NEARER * at.get(position + 1, missing) + _FARTHER * at.get(position + 2, missing)
            found[index] = Around(before, after, mean)
    return found


def _sessions(places: Sequence[Place]) -> list[list[int]]:
    """Candidates of one scope and lane, cut where more than half an hour passed within no run."""
    lanes: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for index, place in enumerate(places):
        lanes[(place.scope_key, place.lane_key)].append(index)
    sessions: list[list[int]] = []
    for lane in lanes.values():
        lane.sort(key=lambda index: places[index].position)
        sessions.append([lane[0]])
        for previous, index in pairwise(lane):
            if _together(places[previous], places[index]):
                sessions[-1].append(index)
            else:
                sessions.append([index])
    return sessions


def _together(one: Place, other: Place) -> bool:
    if one.run_id is not None and one.run_id == other.run_id:
        return True
    return abs(one.said_at - other.said_at) <= CONTEXT_GAP
