"""`memlane bench ack`: how fast adds are accepted, at a fixed rate and at the highest rate that holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import orjson

from deploy.bench.open_loop import Request, Sample, Schedule, open_loop
from deploy.bench.report import Cell, Figures, Report
from deploy.bench.stats import latencies
from deploy.bench.target import Target

_STEP_SECONDS = 5.0
_STEP_FACTOR = 1.25
_MOST_STEPS = 14
_SLOWEST_P99_MS = 500.0
_ADD = "/v3/memories/add/"
PLACES = ("Oslo", "Porto", "Nagoya", "Quito", "Tartu", "Windhoek", "Lyon", "Perth")


@dataclass(frozen=True)
class Arm:
    """One state of the server in which accepting was measured."""

    name: str
    schedule: Schedule
    samples: list[Sample]
    saturation: float | None = None

    @property
    def refused(self) -> int:
        return sum(sample.status != 200 for sample in self.samples) + self.schedule.count - len(self.samples)


@dataclass
class AckRun:
    arms: list[Arm] = field(default_factory=list)


def add_body(number: int, run: str, users: int = 100) -> dict[str, Any]:
    """The add with this number: one user's message of about 20 words, each with facts of its own."""
    place, user = PLACES[number % len(PLACES)], number % users
    text = (
        f"Note {number}: I met Kim {number} in {place} on Tuesday, we signed contract {number * 7} and "
        f"agreed to ship the blue crates before the end of the month."
    )
    return {"messages": [{"role": "user", "content": text}], "user_id": f"{run}-{user}"}


def add_request(number: int, run: str) -> Request:
    return Request(_ADD, orjson.dumps(add_body(number, run)))


def measure(target: Target, name: str, schedule: Schedule, run: str) -> Arm:
    """One arm at a fixed rate, after a second of warming up that is not counted."""
    open_loop(target.url, target.api_key, Schedule(50, 1.0), lambda number: add_request(number, f"{run}-warm"))
    samples = open_loop(target.url, target.api_key, schedule, lambda number: add_request(number, run))
    return Arm(name, schedule, samples)


def saturation(target: Target, run: str, start: float, tell: Callable[[str], None]) -> float:
    """The highest offered rate that held: all answered 200, p99 ≤ 500 ms, found by steps of 5 s, 25 % apart."""
    held, rate = 0.0, start
    for step in range(_MOST_STEPS):
        schedule = Schedule(rate, _STEP_SECONDS, connections=96)
        prefix = f"{run}-step{step}"
        samples = open_loop(target.url, target.api_key, schedule, partial(add_request, run=prefix))
        arm = Arm("step", schedule, samples)
        p99 = latencies([sample.latency_ms for sample in samples]).p99
        tell(f"{rate:.0f}/s: p99 {p99:.0f} ms, {arm.refused} refused")
        if arm.refused or p99 > _SLOWEST_P99_MS:
            break
        held, rate = rate, rate * _STEP_FACTOR
    return held


def report(run: AckRun, command: str) -> Report:
    first = run.arms[0].schedule
    told = Report("Accepting adds, open loop", command)
    told.sizes = {"rate per second": first.rate, "seconds": first.seconds, "adds": first.count, "users": 100}
    columns = ["workers", "adds", "not accepted", "p50 ms", "p90 ms", "p99 ms", "max ms", "saturation, adds/s"]
    told.tables = [Figures("From the scheduled start to the answer", columns, [_row(arm) for arm in run.arms])]
    told.notes = [
        "latency counts from the scheduled start of each request",
        "saturation: the highest rate at which, for 5 s, every add was accepted with p99 ≤ 500 ms",
        "load generator and server share the machine",
    ]
    return told


def _row(arm: Arm) -> list[Cell]:
    told = latencies([sample.latency_ms for sample in arm.samples])
    return [arm.name, len(arm.samples), arm.refused, told.p50, told.p90, told.p99, told.max, arm.saturation]
