"""`memlane bench search`: how long searches take over many memories, idle and while workers drain."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from deploy.bench.ack import add_body
from deploy.bench.client import Answer, BenchError, Memlane
from deploy.bench.corpus import Item, made_up
from deploy.bench.peer import HYBRID, PLAIN, PeerAnswer, PeerArm, PeerJob, PeerMemory, PeerQuestion, run_peer
from deploy.bench.report import Cell, Figures, Report
from deploy.bench.stats import Latencies, latencies, mean

_PER_ADD = 100
_LOAD_SECONDS = 3_600.0
_WARM_UP = 20
_TOP_K = 10
_AHEAD = 60  # adds kept waiting while searches run, so that workers never idle


@dataclass(frozen=True)
class Plan:
    memories: int = 20_000
    users: int = 100
    queries: int = 300
    prefix: str = ""


@dataclass
class Measured:
    """Round trips in milliseconds, and the server's times by stage for the same searches."""

    answers: list[Answer] = field(default_factory=list)
    found: int = 0  # searches whose first three results hold the memory asked for

    @property
    def total(self) -> Latencies:
        return latencies([answer.total_ms for answer in self.answers])

    @property
    def beyond_embedding(self) -> Latencies:
        """The round trip without the embedding of the query; nan where the server does not tell its stages."""
        return latencies(
            [answer.total_ms - answer.stages["embed"] for answer in self.answers if "embed" in answer.stages]
        )

    def stages(self) -> dict[str, float]:
        """The median of each stage."""
        names = list(dict.fromkeys(name for answer in self.answers for name in answer.stages))
        return {
            name: latencies([answer.stages[name] for answer in self.answers if name in answer.stages]).p50
            for name in names
        }


@dataclass
class Run:
    plan: Plan
    items: list[Item]
    asked: list[Item]
    idle: Measured
    draining: Measured
    drained: int = 0  # events that ended while the second round of searches ran
    peer: PeerAnswer | None = None


def run(client: Memlane, plan: Plan, loaded: Callable[[int], None], tell: Callable[[str], None]) -> Run:
    """Load, search while idle, search other questions while workers drain."""
    items = made_up(plan.memories, plan.users)
    load(client, plan, items, loaded)
    asked = random.Random(11).sample(items, min(2 * plan.queries + _WARM_UP, len(items)))
    warm, first, second = (
        asked[:_WARM_UP],
        asked[_WARM_UP : _WARM_UP + plan.queries],
        asked[_WARM_UP + plan.queries :],
    )
    ask_all(client, plan, warm)
    tell("searching, workers idle …")
    idle = ask_all(client, plan, first)
    tell("searching, workers draining …")
    with Draining(client, plan) as drain:
        draining = ask_all(client, plan, second)
    return Run(plan, items, first, idle, draining, drain.ended)


def load(client: Memlane, plan: Plan, items: Sequence[Item], loaded: Callable[[int], None]) -> None:
    """All items verbatim, 100 messages an add; returns when every one is searchable."""
    adds: list[tuple[str, int]] = []
    for user in range(plan.users):
        own = [item for item in items if item.user == user]
        for start in range(0, len(own), _PER_ADD):
            part = own[start : start + _PER_ADD]
            messages = [{"role": "user", "content": item.text} for item in part]
            adds.append((client.add(messages, user_id=f"{plan.prefix}{user}", infer=False), len(part)))
    events = client.wait([event_id for event_id, _ in adds], _LOAD_SECONDS, lambda done: loaded(adds[done - 1][1]))
    failed = [event for event in events if event["status"] != "SUCCEEDED"]
    if failed:
        raise BenchError(f"{len(failed)} adds of the load failed, the first with {failed[0].get('error')}")


def ask_all(client: Memlane, plan: Plan, items: Sequence[Item]) -> Measured:
    """One search after another, as one caller would."""
    measured = Measured()
    for item in items:
        answer = client.search(item.question, {"user_id": f"{plan.prefix}{item.user}"}, top_k=_TOP_K)
        measured.answers.append(answer)
        measured.found += any(hit["memory"] == item.text for hit in answer.results[:3])
    return measured


class Draining:
    """Keeps workers busy: inferred adds of other users, always some waiting, until the block is left."""

    def __init__(self, client: Memlane, plan: Plan) -> None:
        self._client = client
        self._prefix = f"{plan.prefix}drain"
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._feed, name="drain-feed", daemon=True)
        self.ended = 0

    def __enter__(self) -> Draining:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(60)

    def _feed(self) -> None:
        waiting: list[str] = []
        number = 0
        while not self._stop.is_set():
            while len(waiting) < _AHEAD:
                waiting.append(self._client.add(**add_body(number, self._prefix)))
                number += 1
            if self._client.event(waiting[0])["status"] in ("SUCCEEDED", "FAILED"):
                waiting.pop(0)
                self.ended += 1
            else:
                self._stop.wait(0.05)


def ask_peer(run: Run, bulk: bool = True) -> PeerAnswer:
    """The same memories and the same questions, to the peer."""
    memories = [PeerMemory(str(item.user), item.text, item.key) for item in run.items]
    questions = [PeerQuestion(str(item.user), item.question) for item in run.asked]
    return run_peer(PeerJob(memories, questions, _TOP_K, 0.1, bulk))


def report(run: Run, command: str) -> Report:
    told = Report("Searching", command)
    told.sizes = {"memories": run.plan.memories, "users": run.plan.users, "queries": len(run.asked), "top_k": _TOP_K}
    columns = ["search", "count", "p50 ms", "p95 ms", "p99 ms", "max ms", "mean ms", "asked-for in top 3"]
    figures = Figures("Time of a search", columns)
    for name, measured in (("idle", run.idle), ("draining", run.draining)):
        figures.rows.append(_row(f"{name}, round trip", measured.total, measured.found / len(measured.answers)))
        figures.rows.append(_row(f"{name}, beyond the query embedding", measured.beyond_embedding, None))
    if run.peer is not None:
        figures.rows += [_peer_row(run, name, run.peer.arms[name]) for name in (HYBRID, PLAIN)]
    told.tables = [figures, _stages(run)]
    told.notes = _notes(run)
    return told


def _peer_row(run: Run, name: str, arm: PeerArm) -> list[Cell]:
    hits = [any(key == item.key for key, _ in found[:3]) for item, found in zip(run.asked, arm.found, strict=True)]
    return _row(f"mem0 {name}, in process", latencies(arm.milliseconds), mean([float(hit) for hit in hits]))


def _row(name: str, told: Latencies, found: float | None) -> list[Cell]:
    return [name, told.count, told.p50, told.p95, told.p99, told.max, told.mean, found]


def _stages(run: Run) -> Figures:
    idle, draining = run.idle.stages(), run.draining.stages()
    figures = Figures("The server's stages, medians", ["stage", "idle ms", "draining ms"])
    figures.rows = [[name, idle[name], draining.get(name)] for name in idle]
    return figures


def _notes(run: Run) -> list[str]:
    notes = [
        "every question is asked once, so no query embedding comes from the cache",
        f"p95 while draining ÷ p95 idle: {run.draining.total.p95 / run.idle.total.p95:.2f}; "
        f"{run.drained} inferred adds ended meanwhile",
    ]
    if run.peer is not None:
        notes += run.peer.notes
        for name in (HYBRID, PLAIN):
            ratio = latencies(run.peer.arms[name].milliseconds).p50 / run.idle.total.p50
            notes.append(f"mem0 {name}'s p50 ÷ Memlane's p50, both in total: {ratio:.1f}")
    return notes
