"""`locomo --peer mem0`: the same turns and the same questions to the peer, and the paired difference."""

from __future__ import annotations

from deploy.bench.locomo import Plan, Run
from deploy.bench.locomo_data import ANSWERABLE, CATEGORIES
from deploy.bench.peer import NOTE, PeerAnswer, PeerJob, PeerMemory, PeerQuestion, run_peer
from deploy.bench.recall import Found, Judged, answerable, judge, recall_table
from deploy.bench.report import Cell, Figures, Report
from deploy.bench.stats import latencies, paired_difference


def add_to(report: Report, run: Run, plan: Plan) -> None:
    """Run the peer and add its tables to the report. It always stores turn by turn, verbatim."""
    answer, judged = _ask(run, plan)
    report.tables += [
        recall_table("mem0, evidence recall", judged),
        _difference(run.judged, judged),
        _times(run, judged),
    ]
    report.notes += [NOTE, f"mem0 asked: {answer.measured}, loaded in {answer.load_seconds:.0f} s"]


def _ask(run: Run, plan: Plan) -> tuple[PeerAnswer, list[Judged]]:
    memories = [PeerMemory(one.id, turn.line, turn.dia_id) for one in plan.conversations for turn in one.turns]
    questions = [judged.question for judged in run.judged]
    asked = [PeerQuestion(question.conversation, question.text) for question in questions]
    answer = run_peer(PeerJob(memories, asked, plan.top_k, 0.0), kept=True)
    found = [[Found(text, frozenset([key])) for key, text in hits] for hits in answer.found]
    pairs = zip(questions, found, answer.milliseconds, strict=True)
    return answer, [judge(question, hits, ms) for question, hits, ms in pairs]


def _difference(ours: list[Judged], theirs: list[Judged]) -> Figures:
    figures = Figures(
        "Memlane − mem0, paired, 95 % bootstrap interval", ["category", "questions", "recall@10", "all@10"]
    )
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


def _times(run: Run, theirs: list[Judged]) -> Figures:
    figures = Figures("Time of a search", ["who", "p50 ms", "p95 ms", "p99 ms"])
    for name, judged in (("Memlane, over HTTP", run.judged), ("mem0, in process", theirs)):
        told = latencies([one.total_ms for one in judged])
        figures.rows.append([name, told.p50, told.p95, told.p99])
    return figures
