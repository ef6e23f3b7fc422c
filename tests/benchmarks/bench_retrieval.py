"""How well search ranks, against simpler rankings of the same lists: `python -m tests.benchmarks.bench_retrieval`.

Offline and in one process: a PostgreSQL and an index endpoint of its own, the built-in embedder, the services that
the API calls. Runs over the multilingual set, or over LoCoMo turns (`--locomo FILE`, which is not part of this
project). Prints Markdown. The ranking has been tuned on LoCoMo conversations and never on the multilingual set,
except for the abstention rule's bar (docs/benchmarks.md).
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree
from uuid import UUID

from core.adapters.builtin_embedder import builtin_embedder
from core.adapters.query_cache import CachedQueries
from core.domain.filter_scope import scoped
from core.domain.narrowing import Narrowing, select
from core.domain.ranking_params import DEFAULT
from core.ports.index import SparseVector
from core.services.recall import Ask, recall
from core.services.search import SearchQuery, search
from core.text.query import analyse
from deploy.bench.locomo_data import CATEGORIES, Conversation, read_conversations
from deploy.bench.report import Cell, Figures, Report
from deploy.bench.stats import mean, paired_difference
from deploy.local.postgres_server import running_postgres
from deploy.migrations.run import upgrade
from tests.benchmarks import multilingual
from tests.benchmarks.arms import ARMS
from tests.contracts.index_places import endpoint, quick_folder
from tests.doubles.pipeline import Pipeline, make_pipeline
from tests.stack import short_home

OURS = "Memlane"
DEEP = replace(DEFAULT, recall_least=1500)  # the other arms get the whole scope


@dataclass(frozen=True)
class Asked:
    """A question among a user's memories; `group` is its row in the tables, `answers` the sources that answer it."""

    text: str
    user: str
    group: str
    answers: frozenset[str]
    folds: str = ""  # what its figures are also shown by: a language, a conversation


@dataclass(frozen=True)
class Judged:
    """An arm's figures on one question."""

    recall5: float
    recall10: float
    all10: float
    hit1: float


@dataclass(frozen=True)
class Answer:
    """One question: figures by arm (none when off-topic), and recall@10 at the default threshold."""

    asked: Asked
    arms: dict[str, Judged]
    default10: float
    silent: bool


@contextmanager
def a_pipeline() -> Iterator[Pipeline]:
    home = short_home()
    try:
        with (
            running_postgres(home, durable=False) as server,
            quick_folder() as folder,
            endpoint(folder / "data") as running,
        ):
            url = server.create_database("bench")
            upgrade(url)
            pipeline = make_pipeline(url, running.index(), "bench", CachedQueries(builtin_embedder()))
            yield pipeline
            pipeline.database.close()
    finally:
        rmtree(home, ignore_errors=True)


def ask(pipeline: Pipeline, sources: dict[UUID, str], asked: Asked) -> Answer:
    def ours(threshold: float) -> list[str]:
        scope, now = {"user_id": asked.user}, datetime.now(UTC)
        query = SearchQuery(pipeline.project, asked.text, scope, now, top_k=50, threshold=threshold)
        return [sources[hit.memory.id] for hit in search(pipeline.runtime, query).hits]

    default = ours(SearchQuery.threshold)
    if not asked.answers:
        return Answer(asked, {}, 0.0, silent=not default)
    lists = _lists(pipeline, asked)
    orders = {name: [sources[id_] for id_ in arm(lists)] for name, arm in ARMS.items()}
    orders[OURS] = ours(0.0)
    arms = {name: _judge(order, asked.answers) for name, order in orders.items()}
    return Answer(asked, arms, _judge(default, asked.answers).recall10, silent=not default)


def _lists(pipeline: Pipeline, asked: Asked) -> dict[str, dict[UUID, float]]:
    now = datetime.now(UTC)
    where = scoped(select({"user_id": asked.user}, Narrowing(), now.date()), strict=True)
    terms, vector = analyse(asked.text, now), pipeline.runtime.models.embedder.embed_query(asked.text)
    wanted = Ask(pipeline.project, where, bm25=SparseVector(*terms.terms), entity=SparseVector(*terms.names))
    found = recall(pipeline.runtime, replace(wanted, dense=vector), 1, DEEP)
    return {name: dict(found.scores.get(name, {})) for name in ("dense", "bm25", "entity")}


def _judge(order: Sequence[str], answers: frozenset[str]) -> Judged:
    five, ten = (len(answers & set(order[:depth])) / len(answers) for depth in (5, 10))
    return Judged(five, ten, float(ten == 1), float(bool(order) and order[0] in answers))


# --- what is measured on -----------------------------------------------------------------------------------------


def multilingual_set(pipeline: Pipeline, held_out: bool = False) -> tuple[dict[UUID, str], list[Asked]]:
    facts, questions = multilingual.read_set()
    if held_out:
        questions = multilingual.read_held_out()
    asked = [Asked(one.text, one.about, one.kind, one.facts, one.lang) for one in questions]
    return multilingual.store(pipeline, facts), asked


def locomo_turns(pipeline: Pipeline, conversations: list[Conversation]) -> tuple[dict[UUID, str], list[Asked]]:
    """Each turn a memory; repeated turns of one conversation are one memory, which stands for the first of them."""
    asked: list[Asked] = []
    by_line: dict[tuple[str, str], str] = {}
    for one in conversations:
        for session in one.sessions:
            lines = [{"role": "user", "content": turn.line} for turn in session.turns]
            pipeline.add(lines, user=one.id, infer=False, timestamp=int(session.said_at.timestamp()))
        for turn in one.turns:
            by_line.setdefault((one.id, " ".join(turn.line.split())), turn.dia_id)
        asked += [
            Asked(question.text, one.id, CATEGORIES[question.category], question.evidence, one.id)
            for question in one.questions
            if question.evidence
        ]
    pipeline.drain_all()
    sources = {row.id: by_line[row.user_id, " ".join(row.memory.split())] for row in pipeline.memories()}
    return sources, asked


# --- tables ------------------------------------------------------------------------------------------------------


def arms_table(answers: Sequence[Answer]) -> Figures:
    columns = ["arm", "recall@5", "recall@10", "all@10", "hit@1", "ours − arm, recall@10", "ours − arm, all@10"]
    figures = Figures(f"All arms, {len(answers)} questions", columns)
    for name in (*ARMS, OURS):
        told: list[Cell] = [name, *[mean([_of(one, name, field) for one in answers]) for field in _FIELDS]]
        pairs = [
            paired_difference([_of(one, OURS, field) for one in answers], [_of(one, name, field) for one in answers])
            for field in ("recall10", "all10")
        ]
        figures.rows.append([*told, *["–" if name == OURS else str(pair) for pair in pairs]])
    return figures


_FIELDS = ("recall5", "recall10", "all10", "hit1")


def _of(answer: Answer, arm: str, field: str) -> float:
    return float(getattr(answer.arms[arm], field))


def by_group(answers: Sequence[Answer], title: str, field: str, key: Callable[[Asked], str]) -> Figures:
    figures = Figures(title, ["", "questions", *ARMS, OURS])
    for group in dict.fromkeys(key(one.asked) for one in answers):
        part = [one for one in answers if key(one.asked) == group]
        row = [mean([_of(one, name, field) for one in part]) for name in (*ARMS, OURS)]
        figures.rows.append([group, len(part), *row])
    return figures


def differences(answers: Sequence[Answer]) -> Figures:
    figures = Figures("Ours − arm by kind, recall@10, paired", ["", "questions", *ARMS])
    for group in dict.fromkeys(one.asked.group for one in answers):
        part = [one for one in answers if one.asked.group == group]
        ours = [_of(one, OURS, "recall10") for one in part]
        pairs = [paired_difference(ours, [_of(one, name, "recall10") for one in part]) for name in ARMS]
        figures.rows.append([group, len(part), *map(str, pairs)])
    return figures


def threshold_table(answers: Sequence[Answer]) -> Figures:
    columns = ["kind", "questions", "silent", "recall@10 at threshold 0", "at the default"]
    figures = Figures("The default threshold", [*columns, "lost"])
    for group in dict.fromkeys(one.asked.group for one in answers):
        part = [one for one in answers if one.asked.group == group]
        silent = mean([float(one.silent) for one in part])
        if not part[0].arms:
            figures.rows.append([group, len(part), silent, None, None, None])
            continue
        opened, default = mean([_of(one, OURS, "recall10") for one in part]), mean([one.default10 for one in part])
        figures.rows.append([group, len(part), silent, opened, default, opened - default])
    return figures


def tables(answers: list[Answer]) -> list[Figures]:
    on_topic = [one for one in answers if one.arms]
    adversarial = [one for one in on_topic if one.asked.group == CATEGORIES[5]]
    counted = [one for one in on_topic if one.asked.group != CATEGORIES[5]]
    told = [arms_table(counted)]
    for field, title in (("recall5", "recall@5"), ("recall10", "recall@10"), ("hit1", "hit@1")):
        told.append(by_group([*counted, *adversarial], f"{title} by kind", field, lambda asked: asked.group))
    told.append(differences([*counted, *adversarial]))
    own = [one for one in counted if one.asked.group != "cross_lingual"]
    told.append(by_group(own, "recall@5 by language or conversation", "recall5", lambda asked: asked.folds))
    across = [one for one in counted if one.asked.group == "cross_lingual"]
    if across:
        pairs = by_group(across, "recall@5 across languages", "recall5", lambda one: f"{one.folds} → {one.user}")
        told.append(pairs)
    return [*told, threshold_table(answers)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", type=Path, metavar="FILE", help="LoCoMo conversations instead of the own set")
    parser.add_argument("--limit-conversations", type=int, metavar="N", help="the first N conversations only")
    parser.add_argument("--held-out", action="store_true", help="the questions that nothing was tuned on")
    options = parser.parse_args()
    conversations = read_conversations(options.locomo, options.limit_conversations) if options.locomo else None
    command = shlex.join(["python", "-m", "tests.benchmarks.bench_retrieval", *sys.argv[1:]])
    with a_pipeline() as pipeline:
        made = (
            locomo_turns(pipeline, conversations) if conversations else multilingual_set(pipeline, options.held_out)
        )
        answers = [ask(pipeline, made[0], asked) for asked in made[1]]
    name = "LoCoMo turns, arms of one index" if conversations else "The multilingual set, arms of one index"
    report = Report(name, command, sizes={"memories": len(made[0]), "questions": len(answers), "top_k": 50})
    report.tables = tables(answers)
    report.notes = ["intervals: paired bootstrap over questions, 95 %"]
    print(report.markdown())


if __name__ == "__main__":
    main()
