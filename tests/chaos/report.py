"""One table of a chaos run, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.chaos.history import Findings
from tests.chaos.storm import Kill
from tests.chaos.takeovers import Takeover


@dataclass(frozen=True)
class Run:
    """What a run is told by. `counts` are the clients', `more` further lines of the table."""

    seed: int
    seconds: float
    kills: Sequence[Kill]
    freezes: int
    ended_themselves: Mapping[str, int]
    takeovers: Sequence[Takeover]
    counts: Mapping[str, int]
    findings: Findings
    more: Mapping[str, object]


def markdown(run: Run) -> str:
    rate = 60 * len(run.kills) / run.seconds
    lines = [
        f"Seed {run.seed}; {len(run.kills)} `kill -9` in {run.seconds / 60:.1f} minutes ({rate:.0f} a minute), "
        f"{run.freezes} workers frozen and continued.",
        "",
        "| process | kills | in flight at the kill: least / median / most | ended by itself |",
        "|---|---|---|---|",
    ]
    for kind in dict.fromkeys(kill.kind for kill in run.kills):
        seen = sorted(kill.in_flight for kill in run.kills if kill.kind == kind)
        spread = f"{seen[0]} / {seen[len(seen) // 2]} / {seen[-1]}"
        lines.append(f"| {kind} | {len(seen)} | {spread} | {run.ended_themselves.get(kind, 0)} |")
    lines += ["", "| result | |", "|---|---|"]
    lines += [f"| {kind} | {number} |" for kind, number in run.findings.counts().items()]
    lines += [f"| {what} | {number} |" for what, number in sorted(run.counts.items())]
    lines += [f"| {what} | {number} |" for what, number in run.more.items()]
    lines += [f"| {what} | {figures} |" for what, figures in takeover_lines(run.takeovers).items()]
    return "\n".join(lines) + "\n"


def takeover_lines(takeovers: Sequence[Takeover]) -> dict[str, str]:
    if not takeovers:
        return {"lanes of dead workers taken over": "0"}
    return {
        "lanes of dead workers taken over": str(len(takeovers)),
        "seconds from the lease's end, while somebody was there: p50 / p95 / most": _spread(
            [one.waited for one in takeovers]
        ),
        "seconds from the lease's end, in all: p50 / p95 / most": _spread([one.in_all for one in takeovers]),
        "seconds from the death, in all: p50 / p95 / most": _spread([one.since_death for one in takeovers]),
    }


def _spread(values: Sequence[float]) -> str:
    ordered = sorted(values)
    return f"{ordered[len(ordered) // 2]:.2f} / {ordered[int(len(ordered) * 0.95)]:.2f} / {ordered[-1]:.2f}"
