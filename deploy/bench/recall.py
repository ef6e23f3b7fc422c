"""Evidence recall: how much of what answers a question is among the first k results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from deploy.bench.locomo_data import ANSWERABLE, CATEGORIES, Question, count_tokens
from deploy.bench.report import Cell, Figures
from deploy.bench.stats import bootstrap_mean, mean

DEPTHS = (5, 10, 20)


@dataclass(frozen=True)
class Found:
    """One memory among the results: its text, and the turns that it came from (several for an inferred one)."""

    text: str
    turns: frozenset[str]


@dataclass(frozen=True)
class Judged:
    """One question's figures. `recall` by depth is the share of evidence turns covered by the first k results."""

    question: Question
    recall: dict[int, float]
    all_at_10: float
    reciprocal_rank: float
    tokens: dict[int, int] = field(default_factory=dict)
    total_ms: float = 0.0


def judge(question: Question, results: Sequence[Found], total_ms: float = 0.0) -> Judged:
    """Judge results against the question's evidence, which must not be empty."""
    recall = {depth: len(question.evidence & _covered(results[:depth])) / len(question.evidence) for depth in DEPTHS}
    first = next((rank for rank, found in enumerate(results, 1) if found.turns & question.evidence), None)
    return Judged(
        question,
        recall,
        all_at_10=float(recall[10] == 1.0),
        reciprocal_rank=1 / first if first else 0.0,
        tokens={depth: sum(count_tokens(found.text) for found in results[:depth]) for depth in (10, 20)},
        total_ms=total_ms,
    )


def _covered(results: Iterable[Found]) -> frozenset[str]:
    return frozenset().union(*(found.turns for found in results))


def answerable(judged: Sequence[Judged]) -> list[Judged]:
    return [one for one in judged if one.question.category in ANSWERABLE]


def recall_table(title: str, judged: Sequence[Judged]) -> Figures:
    """Recall by category, categories 1 to 4 together, and the adversarial one apart."""
    columns = ["category", "questions", "recall@5", "recall@10", "95 %", "recall@20", "all@10", "MRR"]
    columns += ["tokens@10", "tokens@20"]
    figures = Figures(title, columns)
    for category in ANSWERABLE:
        figures.rows.append(_row(CATEGORIES[category], [one for one in judged if one.question.category == category]))
    figures.rows.append(_row("1–4 together", answerable(judged)))
    figures.rows.append(_row("adversarial (5)", [one for one in judged if one.question.category == 5]))
    return figures


def _row(name: str, judged: list[Judged]) -> list[Cell]:
    interval = bootstrap_mean([one.recall[10] for one in judged])
    return [
        name,
        len(judged),
        mean([one.recall[5] for one in judged]),
        interval.estimate,
        f"{interval.low:.3f}–{interval.high:.3f}" if judged else None,
        mean([one.recall[20] for one in judged]),
        mean([one.all_at_10 for one in judged]),
        mean([one.reciprocal_rank for one in judged]),
        mean([float(one.tokens.get(10, 0)) for one in judged]),
        mean([float(one.tokens.get(20, 0)) for one in judged]),
    ]
