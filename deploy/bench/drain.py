"""`memlane bench drain`: how fast workers finish accepted events, with models that cost next to nothing.

Adds are accepted while no worker runs; then the workers are started, and the rate is counted on the server's clock,
from the first event started to the last one ended. The quiet latency is that of single adds to idle workers.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from deploy.bench.ack import PLACES
from deploy.bench.client import BenchError, Json, Memlane
from deploy.bench.cpu import CpuUse
from deploy.bench.report import Cell, Figures, Report
from deploy.bench.stats import latencies
from deploy.bench.target import Target
from deploy.local.parts import ingest_worker
from deploy.local.stack_state import read_state

_CONCURRENCY = 4
_WAIT_SECONDS = 600.0
_STOP_SECONDS = 40.0
_QUIET_ADDS = 40
_QUIET_WARM_UP = 5
_SENDERS = 8
MODELS = {"verbatim": "deploy.bench.doubles:without_chat", "inferred": "deploy.bench.doubles:with_chat"}


@dataclass(frozen=True)
class Load:
    """`events` adds over `lanes` users; each of `messages` messages."""

    kind: str  # verbatim | inferred
    events: int
    lanes: int
    messages: int = 1

    def settings(self) -> dict[str, str]:
        """Of the stack: no workers yet, and models in process."""
        return {"MEMLANE_WORKERS": "0", "MEMLANE_MODELS": MODELS[self.kind]}


@dataclass(frozen=True)
class Drained:
    load: Load
    workers: int
    seconds: float
    failed: int
    memories: int
    quiet_ms: list[float]
    cpu: dict[str, float]  # processor seconds by group, while the load was worked on

    @property
    def rate(self) -> float:
        return self.load.events / self.seconds


def measure(target: Target, client: Memlane, load: Load, workers: int) -> Drained:
    """Accept the load, start `workers` processes, wait for all; then single adds to the idle workers."""
    event_ids = accept_all(client, load, "drain")
    with worker_processes(target, workers) as pids:
        client.wait(event_ids[:1], _WAIT_SECONDS)  # the workers' own start is not the events' cost
        use = CpuUse({"workers": pids} | _parts(target))
        events = client.wait(event_ids[::-1], _WAIT_SECONDS)  # the last first: few are asked for meanwhile
        cpu = use.seconds()
        quiet = quiet_latencies(client, load)
    failed = sum(event["status"] != "SUCCEEDED" for event in events)
    memories = sum(len(event.get("results") or []) for event in events)
    return Drained(load, workers, span_seconds(events), failed, memories, quiet, cpu)


def _parts(target: Target) -> dict[str, list[int]]:
    """Process ids of the stack's parts that take part in the work."""
    state = read_state(Path(target.environment["MEMLANE_HOME"]))
    parts = state.parts if state else {}
    return {name: [parts[name].pid] for name in ("postgres", "endpoint", "valkey") if name in parts}


def accept_all(client: Memlane, load: Load, run: str) -> list[str]:
    """Every add accepted; returns the events' ids, in the order of the adds."""
    with ThreadPoolExecutor(_SENDERS) as pool:
        return list(pool.map(lambda number: _add(client, load, run, number), range(load.events)))


def _add(client: Memlane, load: Load, run: str, number: int) -> str:
    messages = [{"role": "user", "content": _sentence(number, part)} for part in range(load.messages)]
    return client.add(messages, user_id=f"{run}-{number % load.lanes}", infer=load.kind == "inferred")


def _sentence(number: int, part: int) -> str:
    place = PLACES[(number + part) % len(PLACES)]
    return f"I keep the key of locker {number * 10 + part} in {place} and visit it on day {number % 28 + 1}."


def span_seconds(events: Sequence[Json]) -> float:
    """From the first event started to the last one ended, on the server's clock."""
    started = [_time(event["started_at"]) for event in events if event.get("started_at")]
    ended = [_time(event["completed_at"]) for event in events if event.get("completed_at")]
    if not started or not ended:
        raise BenchError("the events carry no times")
    return max((max(ended) - min(started)).total_seconds(), 1e-6)


def quiet_latencies(client: Memlane, load: Load) -> list[float]:
    """Milliseconds from accepted to SUCCEEDED of single adds, each sent when the one before has ended."""
    quiet = []
    for number in range(_QUIET_WARM_UP + _QUIET_ADDS):
        (event,) = client.wait([_add(client, load, "quiet", 10_000_000 + number)], 60.0)
        if number >= _QUIET_WARM_UP:
            quiet.append((_time(event["completed_at"]) - _time(event["created_at"])).total_seconds() * 1_000)
    return quiet


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


@contextmanager
def worker_processes(target: Target, count: int) -> Iterator[list[int]]:
    """`count` ingest workers on the stack's parts, stopped at the end; gives their process ids."""
    if not target.own:
        raise BenchError("drain starts its own stack: it needs models that cost nothing; leave --url out")
    parts = [ingest_worker(number, _CONCURRENCY) for number in range(1, count + 1)]
    workers = [
        subprocess.Popen(
            part.command, env=target.environment, stdout=subprocess.DEVNULL, start_new_session=True
        )  # a session of its own, as the launcher starts it: its niceness goes by that
        for part in parts
    ]
    try:
        yield [worker.pid for worker in workers]
    finally:
        for worker in workers:
            worker.terminate()
        deadline = time.monotonic() + _STOP_SECONDS
        for worker in workers:
            try:
                worker.wait(max(1.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()


def report(drained: Sequence[Drained], command: str) -> Report:
    told = Report("Draining, with models that cost nothing", command)
    told.sizes = {"events": drained[0].load.events, "lanes": drained[0].load.lanes, "threads a worker": _CONCURRENCY}
    columns = ["events", "workers", "events/s", "seconds", "memories", "failed", "quiet p50 ms", "quiet p95 ms"]
    told.tables = [Figures("Events finished", columns, [_row(one) for one in drained]), _cpu(drained)]
    told.notes = [
        "chat model and embedder are doubles inside the workers; all other parts are the real ones",
        "rate: first event started to last event searchable; quiet: single adds, accepted to SUCCEEDED",
        "processor time is counted after the first event, so the workers' start is not in it",
    ]
    return told


def _row(one: Drained) -> list[Cell]:
    quiet = latencies(one.quiet_ms)
    row: list[Cell] = [one.load.kind, one.workers, one.rate, one.seconds, one.memories, one.failed]
    return [*row, quiet.p50, quiet.p95]


def _cpu(drained: Sequence[Drained]) -> Figures:
    groups = list(drained[0].cpu)
    figures = Figures("Processor time per event, ms", ["events", *groups, "together"])
    for one in drained:
        each = [one.cpu.get(group, 0.0) * 1_000 / one.load.events for group in groups]
        figures.rows.append([one.load.kind, *each, sum(each)])
    return figures
