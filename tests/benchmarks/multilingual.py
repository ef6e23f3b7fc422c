"""The multilingual set: the same 36 facts told in five languages by five users, and questions about them.

`data/multilingual.jsonl` was written for this project. A line is a fact (`fact`, `lang`, `text`) or a question
(`question`, `kind`, `lang`, `about`, `facts`): asked in `lang` among the memories told in `about`, and answered by
`facts`, which is empty for an off-topic question. As the facts and questions of all languages say the same, a
figure of one language can be held against that of another.

`data/held_out.jsonl` has more questions about the same facts, in two more languages too. They were written before the
abstention rule was tuned on the others, and nothing was chosen by them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from core.services.search import SearchQuery, search
from tests.doubles.pipeline import Pipeline

DATA = Path(__file__).parent / "data" / "multilingual.jsonl"
HELD_OUT = DATA.with_name("held_out.jsonl")
KINDS = ("paraphrase", "exact_id", "name", "cross_lingual", "off_topic")
_FIRST = datetime(2026, 3, 2, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Fact:
    id: str
    lang: str
    text: str


@dataclass(frozen=True)
class Question:
    text: str
    kind: str
    lang: str
    about: str
    facts: frozenset[str]


def read_set() -> tuple[list[Fact], list[Question]]:
    lines = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    facts = [Fact(line["fact"], line["lang"], line["text"]) for line in lines if "fact" in line]
    return facts, _questions(lines)


def read_held_out() -> list[Question]:
    return _questions([json.loads(line) for line in HELD_OUT.read_text(encoding="utf-8").splitlines()])


def _questions(lines: Sequence[dict[str, Any]]) -> list[Question]:
    return [
        Question(line["question"], line["kind"], line["lang"], line["about"], frozenset(line["facts"]))
        for line in lines
        if "question" in line
    ]


def store(pipeline: Pipeline, facts: Sequence[Fact]) -> dict[UUID, str]:
    """Memory id → fact id. Each language is a user; a fact a day, so that none is another's conversation."""
    told: dict[str, list[dict[str, object]]] = {}
    for day, fact in enumerate(facts):
        said_at = int((_FIRST + timedelta(days=day)).timestamp())
        told.setdefault(fact.lang, []).append({"role": "user", "content": fact.text, "timestamp": said_at})
    for lang, messages in told.items():
        pipeline.add(messages, user=lang, infer=False)
    pipeline.drain_all()
    by_text = {(fact.lang, fact.text): fact.id for fact in facts}
    return {row.id: by_text[row.user_id, row.memory] for row in pipeline.memories()}


@dataclass(frozen=True)
class Outcome:
    """A question and the facts found, best first, without and with the default threshold."""

    question: Question
    open: list[str]
    default: list[str]

    def recall(self, depth: int, found: Sequence[str] | None = None) -> float:
        """Share of the answering facts among the first `depth`; the question must have some."""
        hits = self.open if found is None else found
        return len(self.question.facts & set(hits[:depth])) / len(self.question.facts)

    @property
    def first(self) -> float:
        """1 if the best hit answers."""
        return float(bool(self.open) and self.open[0] in self.question.facts)


def ask(pipeline: Pipeline, sources: dict[UUID, str], question: Question) -> Outcome:
    """Asks without a threshold only where the default one leaves fewer than ten: it cuts, and moves nothing."""

    def found(threshold: float) -> list[str]:
        scope, now = {"user_id": question.about}, datetime.now(UTC)
        query = SearchQuery(pipeline.project, question.text, scope, now, threshold=threshold)
        return [sources[hit.memory.id] for hit in search(pipeline.runtime, query).hits]

    default = found(SearchQuery.threshold)
    return Outcome(question, found(0.0) if question.facts and len(default) < 10 else default, default)
