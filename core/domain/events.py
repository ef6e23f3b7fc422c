"""The life of an event: its states, who may move it where, and what clients see of it. Drawn in docs/states.md."""

from __future__ import annotations

from enum import StrEnum


class EventState(StrEnum):
    """Stored states. The wire knows four words only (`WIRE_STATUS`)."""

    ACCEPTED = "accepted"  # written by accept, waiting for its lane
    CLAIMED = "claimed"  # a worker that holds the lane's lease works on it
    RETRYING = "retrying"  # a reported failure; due again at due_at; blocks its lane
    COMMITTED = "committed"  # its memories are in PostgreSQL; can only succeed from here (erasure excepted)
    PROJECTED = "projected"  # searchable; ended well
    FAILED = "failed"  # ended with an error of the catalogue


OPEN_STATES = (EventState.ACCEPTED, EventState.CLAIMED, EventState.RETRYING, EventState.COMMITTED)
ENDED_STATES = (EventState.PROJECTED, EventState.FAILED)

TRANSITIONS: dict[EventState, tuple[EventState, ...]] = {
    EventState.ACCEPTED: (EventState.CLAIMED, EventState.FAILED),
    EventState.CLAIMED: (
        EventState.COMMITTED,
        EventState.RETRYING,
        EventState.ACCEPTED,  # handed back by a stopping worker
        EventState.FAILED,
    ),
    EventState.RETRYING: (EventState.CLAIMED, EventState.FAILED),
    EventState.COMMITTED: (EventState.PROJECTED, EventState.FAILED),  # FAILED: erased only
    EventState.PROJECTED: (),
    EventState.FAILED: (EventState.ACCEPTED,),  # requeued by a person, with a new sequence
}

WIRE_STATUS: dict[EventState, str] = {
    EventState.ACCEPTED: "PENDING",
    EventState.RETRYING: "PENDING",
    EventState.CLAIMED: "RUNNING",
    EventState.COMMITTED: "RUNNING",
    EventState.PROJECTED: "SUCCEEDED",
    EventState.FAILED: "FAILED",
}
