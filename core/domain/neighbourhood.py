"""What the memories around a candidate add to it, as far as they were recalled themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from core.domain.conversation import CONTEXT_GAP

_NEAR = ((1, 2 / 3), (2, 1 / 3))  # distance in positions, share


@dataclass(frozen=True)
class Place:
    """Where in which conversation a memory stands."""

    scope_key: str
    lane_key: str
    position: int
    said_at: datetime
    run_id: str | None = None


@dataclass(frozen=True)
class Around:
    """`before` and `after`: the weighed dense evidence of the two positions each way; `session`: the mean of the
    session's best lexical evidence. All 0..1."""

    before: float
    after: float
    session: float


@dataclass(frozen=True)
class Recalled:
    """What the neighbourhood needs to know of a candidate: its calibrated `dense` and its saturated `words`."""

    id: UUID
    place: Place
    dense: float
    words: float


def surroundings(candidates: Sequence[Recalled], floor: float, best: int) -> Mapping[UUID, Around]:
    """For each candidate, what stands around it.

    `floor` is the dense evidence assumed for a position that was not recalled; `best` is how many matches
    stand for a session.
    """
    found: dict[UUID, Around] = {}
    for session in _sessions(candidates):
        at: dict[int, float] = {}
        for item in session:
            at[item.place.position] = max(item.dense, at.get(item.place.position, 0.0))
        words = sorted((item.words for item in session), reverse=True)[:best]
        mean = sum(words) / best
        for item in session:
            position = item.place.position
            before = sum(share * at.get(position - step, floor) for step, share in _NEAR)
            after = sum(share * at.get(position + step, floor) for step, share in _NEAR)
            found[item.id] = Around(before, after, mean)
    return found


def _sessions(candidates: Sequence[Recalled]) -> list[list[Recalled]]:
    """Candidates of one scope and lane, cut where more than half an hour passed within no run."""
    lanes: defaultdict[tuple[str, str], list[Recalled]] = defaultdict(list)
    for item in candidates:
        lanes[(item.place.scope_key, item.place.lane_key)].append(item)
    sessions: list[list[Recalled]] = []
    for lane in lanes.values():
        lane.sort(key=lambda item: item.place.position)
        current = [lane[0]]
        for item in lane[1:]:
            if _together(current[-1].place, item.place):
                current.append(item)
            else:
                sessions.append(current)
                current = [item]
        sessions.append(current)
    return sessions


def _together(one: Place, other: Place) -> bool:
    if one.run_id is not None and one.run_id == other.run_id:
        return True
    return abs(one.said_at - other.said_at) <= CONTEXT_GAP
