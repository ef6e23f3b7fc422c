"""What services report to telemetry: the name of each signal and the fields that it carries.

A signal is one wide record of one attempt: `telemetry.emit("event_attempt", outcome="done", ...)`. Times are
milliseconds (`ms`, or a mapping stage → ms). No field ever carries memory text, message content or a secret.
Extra fields are welcome on the log line; the fields named here also feed the metrics.
"""

from __future__ import annotations

from enum import StrEnum


class Signal(StrEnum):
    """Names of the signals. A test holds every `emit("…")` in the source to this list."""

    REQUEST = "request"  # one HTTP request, whatever its answer
    ACCEPT = "accept"  # an add was accepted, or replayed
    EVENT_ATTEMPT = "event_attempt"  # a worker worked on an event, up to its outcome
    EVENT_ERROR = "event_error"  # what a failed attempt raised
    LANE_TURN = "lane_turn"  # a worker held a lane's lease from claim to release
    SWEEP = "sweep"  # a look for what wake-ups missed
    SEARCH = "search"  # one search, with the time of each stage
    PROJECTION = "projection"  # memories written to the index, or the failure to
    WEBHOOK_ATTEMPT = "webhook_attempt"  # one try of one delivery
    UPKEEP = "upkeep"  # retention, erasure and other scheduled work
    MODEL_CALL = "model_call"  # one call of a chat, embedding or rerank model
    BREAKER = "breaker"  # a circuit breaker opened or closed
    WAKE_FAILED = "wake_failed"  # the broker did not take a wake-up; the sweep will find the work
    NOTE_LOST = "note_lost"  # a read was answered, and what it would have noted could not be written
    PROCESS = "process"  # start, stop and restart of a process


FIELDS: dict[Signal, tuple[str, ...]] = {
    Signal.REQUEST: ("method", "route", "status", "ms", "project_id", "request_id"),
    Signal.ACCEPT: ("disposition", "event_id", "project_id", "messages", "ms"),
    Signal.EVENT_ATTEMPT: (
        "event_id",
        "project_id",
        "outcome",  # done | retry | fail | snooze | superseded | handed_back
        "code",
        "ms",
        "latency_ms",  # accepted → projected, on done only
        "stages",
        "outcomes",  # outcome of a candidate → count
        "tries",
        "crashes",
    ),
    Signal.EVENT_ERROR: ("event_id", "code", "error"),
    Signal.LANE_TURN: ("outcome", "events", "ms", "fence"),
    Signal.SWEEP: ("found", "ms"),
    Signal.SEARCH: ("project_id", "outcome", "ms", "stages", "hits", "dropped"),
    Signal.PROJECTION: ("outcome", "points", "ms"),
    Signal.WEBHOOK_ATTEMPT: ("delivery_id", "webhook_id", "outcome", "status", "ms", "attempt"),
    Signal.UPKEEP: ("task", "outcome", "rows", "ms"),
    Signal.MODEL_CALL: ("kind", "outcome", "ms", "prompt_tokens", "completion_tokens", "texts"),
    Signal.BREAKER: ("model", "state"),
    Signal.WAKE_FAILED: ("queue", "error"),
    Signal.NOTE_LOST: ("what", "error"),  # key_use | decay | repair
    Signal.PROCESS: ("part", "change"),
}
