"""`memlane bench locomo`: evidence recall over real conversations, plain or through extraction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from deploy.bench.client import Json, Memlane
from deploy.bench.locomo_data import Conversation
from deploy.bench.locomo_load import Loaded, Progress, load_all
from deploy.bench.recall import Found, Judged, judge, recall_table
from deploy.bench.report import Cell, Figures, Report
from deploy.bench.stats import latencies, mean

_SHOWN_FAILURES = 5


@dataclass(frozen=True)
class Plan:
    """What to run. `prefix` goes before the conversation's id in `user_id`, so that runs do not mix."""

    conversations: list[Conversation]
    infer: bool = False
    top_k: int = 50
    prefix: str = ""


@dataclass
class Run:
    """What came out: the loaded conversations, each question judged, search times, and seconds of loading."""

    loaded: list[Loaded]
    seconds: float
    judged: list[Judged] = field(default_factory=list)
    stage_ms: dict[str, list[float]] = field(default_factory=dict)


def run(client: Memlane, plan: Plan, loading: Progress, searched: Callable[[int], None]) -> Run:
    """Load, wait, search every question that has evidence. `searched` is called once per question."""
    loaded, seconds = load_all(client, plan.conversations, plan.infer, plan.prefix, loading)
    result = Run(loaded, seconds)
    for one in loaded:
        for question in one.conversation.questions:
            if not question.evidence:
                continue
            answer = client.search(question.text, {"user_id": one.user_id}, top_k=plan.top_k, threshold=0)
            found = [_found(hit, one) for hit in answer.results]
            result.judged.append(judge(question, found, answer.total_ms))
            for stage, milliseconds in answer.stages.items():
                result.stage_ms.setdefault(stage, []).append(milliseconds)
            searched(1)
    return result


def _found(hit: Json, loaded: Loaded) -> Found:
    return Found(hit["memory"], loaded.sources.get(hit["id"], frozenset()))


def report(run: Run, plan: Plan, command: str) -> Report:
    turns = sum(len(one.turns) for one in plan.conversations)
    told = Report(
        "LoCoMo, inferred" if plan.infer else "LoCoMo, turn by turn",
        command,
        sizes={
            "conversations": len(plan.conversations),
            "turns": turns,
            "questions": len(run.judged),
            "memories": sum(len(one.texts) for one in run.loaded),
            "top_k": plan.top_k,
        },
    )
    told.tables = [recall_table("Evidence recall", run.judged), _storage(run), _time(run, turns)]
    told.notes = _notes(run, plan)
    return told


def _storage(run: Run) -> Figures:
    columns = ["conversation", "memories", "raw tokens", "stored tokens", "stored/raw", "failed", "duplicated"]
    figures = Figures("What was stored", [*columns, "turns per memory"])
    figures.rows = [_storage_row(one.user_id, [one]) for one in run.loaded]
    if len(run.loaded) > 1:
        figures.rows.append(_storage_row("all", run.loaded))
    return figures


def _storage_row(name: str, parts: Sequence[Loaded]) -> list[Cell]:
    raw, stored = sum(one.raw_tokens for one in parts), sum(one.stored_tokens for one in parts)
    sources = [turns for one in parts for turns in one.sources.values()]
    return [
        name,
        sum(len(one.texts) for one in parts),
        raw,
        stored,
        stored / max(1, raw),
        sum(len(one.failures) for one in parts),
        sum(one.duplicated for one in parts),
        mean([float(len(turns)) for turns in sources]),
    ]


def _time(run: Run, turns: int) -> Figures:
    figures = Figures("Time", ["what", "count", "p50 ms", "p95 ms", "p99 ms", "max ms"])
    stages = {"search, round trip": [one.total_ms for one in run.judged]} | {
        f"search, {stage}": samples for stage, samples in run.stage_ms.items()
    }
    for name, samples in stages.items():
        told = latencies(samples)
        figures.rows.append([name, told.count, told.p50, told.p95, told.p99, told.max])
    figures.rows.append(
        [f"load until searchable: {run.seconds:.1f} s, {turns / run.seconds:.0f} turns/s", *[None] * 5]
    )
    return figures


def _notes(run: Run, plan: Plan) -> list[str]:
    outcomes: Counter[str] = sum((one.outcomes for one in run.loaded), Counter())
    usage: Counter[str] = sum((one.usage for one in run.loaded), Counter())
    notes = ["tokens are words, marks and CJK characters, one each; raw tokens leave the speakers' names out"]
    if plan.infer:
        notes.append("an inferred memory counts for every turn that it names as its source")
    if outcomes:
        notes.append("outcomes: " + ", ".join(f"{key} {value:,}" for key, value in outcomes.most_common()))
    if usage:
        notes.append("usage: " + ", ".join(f"{key} {value:,}" for key, value in usage.most_common()))
    failures = [failure for one in run.loaded for failure in one.failures]
    notes += [f"failed: {failure}" for failure in failures[:_SHOWN_FAILURES]]
    return notes


def details(run: Run) -> Json:
    """Every question with its figures, for the JSON file."""
    return {
        "questions": [
            {
                "conversation": one.question.conversation,
                "question": one.question.text,
                "category": one.question.category,
                "recall": one.recall,
                "all_at_10": one.all_at_10,
                "reciprocal_rank": one.reciprocal_rank,
                "tokens": one.tokens,
                "total_ms": one.total_ms,
            }
            for one in run.judged
        ],
        "failures": [failure for one in run.loaded for failure in one.failures],
    }
