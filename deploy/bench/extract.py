"""`bench extract`: how well a chat model, or the built-in rules, extract facts from hand-written cases.

The pipeline is the product's own: prompt, schema, tolerant reading, one re-ask, grounding. What is measured is what
would be stored.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.domain.errors import MemlaneError
from core.domain.outcomes import Outcome
from core.ports.extraction import Extractor
from core.ports.models import ChatModel, ChatReply, ModelError, Usage
from deploy.bench.client import BenchError
from deploy.bench.extract_cases import Case, Judged, judge
from deploy.bench.report import Cell, Figures, Report
from deploy.bench.stats import mean

_MOST_OUTAGES = 3  # in a row; after that there is nothing to measure
_SHOWN = 110  # characters of a text in the table of texts


class Counting:
    """A chat model that counts what it costs, also where the extraction fails in the end."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat
        self.usage = Usage()

    @property
    def name(self) -> str:
        return self._chat.name

    def complete(
        self, messages: Sequence[dict[str, Any]], schema: dict[str, Any] | None, max_tokens: int
    ) -> ChatReply:
        reply = self._chat.complete(messages, schema, max_tokens)
        self.usage.add(reply)
        return reply


@dataclass
class CaseRun:
    """One case as it went. `ended` is "done" or the catalogue code of its failure."""

    case: Case
    judged: Judged
    dropped: list[Outcome] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    ended: str = "done"

    @property
    def ungrounded(self) -> int:
        return sum(outcome.rule == "ungrounded" for outcome in self.dropped)

    @property
    def junk(self) -> int:
        """Texts stored though there was nothing to keep."""
        return 0 if self.case.facts else len(self.judged.stored)

    @property
    def as_expected(self) -> bool:
        judged = self.judged
        return (
            self.ended == "done"
            and judged.found == len(self.case.facts)
            and not (judged.wrong or judged.beside or judged.again)
        )


@dataclass
class ExtractRun:
    """`model` names what extracted."""

    model: str
    runs: list[CaseRun] = field(default_factory=list)


def run(
    model: str,
    extractor: Extractor,
    counting: Counting | None,
    cases: Sequence[Case],
    tell: Callable[[CaseRun], None],
) -> ExtractRun:
    """Every case once, in order; `counting` is None for the rules. Raises BenchError when the endpoint is away or
    refuses the request."""
    whole, outages = ExtractRun(model), 0
    for case in cases:
        one, failure = _run(extractor, counting, case)
        whole.runs.append(one)
        tell(one)
        outages = outages + 1 if failure is not None else 0
        if failure is not None and outages >= _MOST_OUTAGES:
            raise BenchError(f"{model} failed {outages} cases in a row: {failure}")
    return whole


def _run(extractor: Extractor, counting: Counting | None, case: Case) -> tuple[CaseRun, ModelError | None]:
    usage = Usage()
    if counting is not None:
        counting.usage = usage
    started, failure = time.perf_counter(), None
    try:
        extraction = extractor.extract(case.request)
        one = CaseRun(case, judge(case, extraction.candidates), extraction.dropped, usage)
    except MemlaneError as error:
        one = CaseRun(case, Judged(), usage=usage, ended=error.code)
    except ModelError as error:
        failure = error
        one = CaseRun(case, Judged(), usage=usage, ended=error.code)
    one.seconds = time.perf_counter() - started
    return one, failure


_COUNTED = ["facts", "stored", "wrong", "beside", "again", "ungrounded", "language"]
_COUNTED += ["calls", "tokens in", "tokens out"]


def report(whole: ExtractRun, command: str) -> Report:
    runs = whole.runs
    made = Report(
        "Extraction", command, sizes={"cases": len(runs), "facts": sum(len(one.case.facts) for one in runs)}
    )
    for title, key in (("By kind", _kind), ("By language", _language)):
        names = list(dict.fromkeys(map(key, runs)))
        rows = [_sums(name, [one for one in runs if key(one) == name]) for name in names]
        made.tables.append(Figures(title, _SUMMED, [*rows, _sums("all", runs)]))
    made.tables.append(Figures("Case by case", ["case", *_COUNTED, "seconds", "ended"], list(map(_row, runs))))
    odd = [_texts(one) for one in runs if not one.as_expected]
    made.tables.append(Figures("Where it went otherwise than expected", ["case", "stored", "filtered"], odd))
    made.notes += [f"model: {whole.model}", *_DEFINED]
    return made


_DEFINED = (
    "facts: those kept, with their side, date and superseded memory where the case has one, of those expected",
    "wrong: stored texts that turn what was said: a negation lost, a fact given to the wrong person",
    "beside: stored texts that are no expected fact; junk: all that was stored where there was nothing to keep",
    "again: stored texts that tell only what an earlier one told; near duplicates are looked for later, "
    "by embedding, which this run does not do",
    "ungrounded: what the model wrote and Memlane did not store, because nobody said it",
    "language: stored texts in the language of their conversation",
)
_SUMMED = [
    "",
    "cases",
    "facts",
    "share",
    "wrong",
    "beside",
    "again",
    "junk",
    "ungrounded",
    "language",
    "failed",
    "calls",
]
_SUMMED += ["tokens in", "tokens out", "s/case"]


def _kind(one: CaseRun) -> str:
    return one.case.kind


def _language(one: CaseRun) -> str:
    return one.case.language


def _sums(name: str, runs: Sequence[CaseRun]) -> list[Cell]:
    found, wanted = sum(one.judged.found for one in runs), sum(len(one.case.facts) for one in runs)
    return [
        name,
        len(runs),
        f"{found}/{wanted}",
        found / wanted if wanted else None,
        sum(len(one.judged.wrong) for one in runs),
        sum(len(one.judged.beside) for one in runs),
        sum(len(one.judged.again) for one in runs),
        sum(one.junk for one in runs),
        sum(one.ungrounded for one in runs),
        _share(runs),
        sum(one.ended != "done" for one in runs),
        sum(one.usage.model_calls for one in runs),
        sum(one.usage.prompt_tokens for one in runs),
        sum(one.usage.completion_tokens for one in runs),
        mean([one.seconds for one in runs]),
    ]


def _row(one: CaseRun) -> list[Cell]:
    judged, usage = one.judged, one.usage
    return [
        one.case.name,
        f"{judged.found}/{len(one.case.facts)}",
        len(judged.stored),
        len(judged.wrong),
        len(judged.beside),
        len(judged.again),
        one.ungrounded,
        _share([one]),
        usage.model_calls,
        usage.prompt_tokens,
        usage.completion_tokens,
        one.seconds,
        one.ended,
    ]


def _share(runs: Sequence[CaseRun]) -> str:
    kept, stored = sum(one.judged.in_language for one in runs), sum(len(one.judged.stored) for one in runs)
    return f"{kept}/{stored}" if stored else "–"


def _texts(one: CaseRun) -> list[Cell]:
    dropped = [
        f"{_short(outcome.text or '')} ({_short(outcome.detail or outcome.rule or '')})" for outcome in one.dropped
    ]
    return [one.case.name, " · ".join(map(_short, one.judged.stored)) or None, " · ".join(dropped) or None]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def details(whole: ExtractRun) -> dict[str, Any]:
    """Every case with what was stored and dropped, for --json."""
    return {
        one.case.name: {
            "ended": one.ended,
            "found": one.judged.found,
            "expected": len(one.case.facts),
            "stored": one.judged.stored,
            "wrong": one.judged.wrong,
            "dropped": [outcome.as_dict() for outcome in one.dropped],
            "seconds": one.seconds,
        }
        for one in whole.runs
    }
