"""Procedural memory: one memory that summarises the steps of an agent's run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.domain.memory import Candidate
from core.domain.outcomes import Outcome
from core.ports.extraction import Extraction, ExtractionRequest
from core.services.extract_model.candidates import Ground
from core.services.extract_model.parse import Answer
from core.services.extract_model.windows import Window
from core.text.budget import clean
from core.text.entities import entities, fold_width
from core.text.language import language
from core.text.numbers import numbers
from core.text.support import Support, unsupported_name

# the numbers of the summary's own list of steps, which nobody said
_ENUMERATION = re.compile(r"^\s*(?:step\s*)?\d{1,3}[.):：、]\s*", re.IGNORECASE | re.MULTILINE)

_ROLES = ("User", "Assistant", "Agent", "Task", "Step", "Tool")


def procedure(
    request: ExtractionRequest, answers: Sequence[tuple[Window, Answer]], extraction: Extraction
) -> Extraction:
    """One candidate whose text joins the windows' summaries, line by line; ungrounded lines are left out, told.

    A summary speaks of tasks that were asked for and of results in words of its own, so that only its names and
    numbers are held against the run.
    """
    lines: list[str] = []
    for window, answer in answers:
        ground = Ground.of(request, window)
        said = [*ground.sources, *ground.names, *_ROLES]
        support = Support.of(said, language("\n".join(ground.sources)))
        for line in (line for item in answer.items for line in clean(item["text"]).splitlines()):
            if not line.strip():
                continue
            unsupported = _unsupported(_ENUMERATION.sub("", line), support)
            if unsupported is None:
                lines.append(line.strip())
            else:
                extraction.dropped.append(Outcome("filtered", line.strip(), rule="ungrounded", detail=unsupported))
    if lines:
        extraction.candidates = [one_procedure(request, "\n".join(lines))]
    return extraction


def _unsupported(line: str, support: Support) -> str | None:
    missing = sorted(numbers(line) - support.numbers)
    if missing:
        return f"number {missing[0]} is not in the conversation"
    return unsupported_name(fold_width(line), support)


def one_procedure(request: ExtractionRequest, text: str) -> Candidate:
    """The memory of a run: it is the assistant's, and its sources are all of the run's turns."""
    return Candidate(
        text=text,
        attributed_to="assistant",
        role="assistant",
        entities=entities(text),
        source_turns=tuple(turn.index for turn in request.turns if turn.role != "system"),
        memory_type="procedural_memory",
    )
