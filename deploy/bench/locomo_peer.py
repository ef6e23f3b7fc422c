"""`locomo --peer mem0`: the same turns and the same questions to the peer, and the paired difference."""

from __future__ import annotations

from deploy.bench.locomo import Plan, Run
from deploy.bench.locomo_data import ANSWERABLE, CATEGORIES
from deploy.bench.peer import HYBRID, PLAIN, PeerAnswer, PeerArm, PeerJob, PeerMemory, PeerQuestion, run_peer
from deploy.bench.recall import Found, Judged, answerable, judge, recall_table
from deploy.bench.report import Cell, Figures, Report
from deploy.bench.stats import latencies, paired_difference


def add_to(report: Report, run: Run, plan: Plan) -> None:
    """Run the peer and add its tables to the report. It always stores turn by turn, verbatim."""
    answer = _ask(run, plan)
    judged = {name: _judged(run, arm) for name, arm in answer.arms.items()}
    for name in (HYBRID, PLAIN):
        report.tables += [
            recall_table(f"mem0 {name}, evidence recall", judged[name]),
            _difference(f"Memlane − mem0 {name}, paired, 95 % bootstrap interval", run.judged, judged[name]),
        ]
    report.tables.append(_times(run, judged))
    report.notes += answer.notes


def _ask(run: Run, plan: Plan) -> PeerAnswer:
    memories = [PeerMemory(one.id, turn.line, turn.dia_id) for one in plan.conversations for turn in one.turns]
    asked = [PeerQuestion(judged.question.conversation, judged.question.text) for judged in run.judged]
    return run_peer(PeerJob(memories, asked, plan.top_k, 0.0), kept=True)


def _judged(run: Run, arm: PeerArm) -> list[Judged]:
    found = [[Found(text, frozenset([key])) for key, text in hits] for hits in arm.found]
    questions = [judged.question for judged in run.judged]
    pairs = zip(questions, found, arm.milliseconds, strict=True)
    return [judge(question, hits, ms) for question, hits, ms in pairs]


def _difference(title: str, ours: list[Judged], theirs: list[Judged]) -> Figures:
    figures = Figures(title, ["category", "questions", "recall@10", "all@10"])
    pairs = list(zip(ours, theirs, strict=True))
    for category in (*ANSWERABLE, 5):
        figures.rows.append(
            _pair_row(CATEGORIES[category], [pair for pair in pairs if pair[0].question.category == category])
        )
    together = set(map(id, answerable(ours)))
    figures.rows.append(_pair_row("1–4 together", [pair for pair in pairs if id(pair[0]) in together]))
    return figures


def _pair_row(name: str, pairs: list[tuple[Judged, Judged]]) -> list[Cell]:
    recall = paired_difference([one.recall[10] for one, _ in pairs], [other.recall[10] for _, other in pairs])
    every = paired_difference([one.all_at_10 for one, _ in pairs], [other.all_at_10 for _, other in pairs])
    return [name, len(pairs), str(recall), str(every)]


def _times(run: Run, theirs: dict[str, list[Judged]]) -> Figures:
    figures = Figures("Time of a search", ["who", "p50 ms", "p95 ms", "p99 ms"])
    named = {"Memlane, over HTTP": run.judged} | {
        f"mem0 {name}, in process": judged for name, judged in theirs.items()
    }
    for name, judged in named.items():
        told = latencies([one.total_ms for one in judged])
        figures.rows.append([name, told.p50, told.p95, told.p99])
    return figures
