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
from core.text.entities import entities
from core.text.grounding import ungrounded

# the numbers of the summary's own list of steps, which nobody said
_ENUMERATION = re.compile(r"^\s*(?:step\s*)?\d{1,3}[.):：、]\s*", re.IGNORECASE | re.MULTILINE)

_ROLES = ("User", "Assistant", "Agent", "Task", "Step", "Tool")


def procedure(
    request: ExtractionRequest, answers: Sequence[tuple[Window, Answer]], extraction: Extraction
) -> Extraction:
    """One candidate whose text joins the windows' summaries, line by line; ungrounded lines are left out, told."""
    lines: list[str] = []
    for window, answer in answers:
        ground = Ground.of(request, window)
        for line in (line for item in answer.items for line in clean(item["text"]).splitlines()):
            if not line.strip():
                continue
            unsupported = ungrounded(_ENUMERATION.sub("", line), ground.sources, allowed=_ROLES)
            if unsupported is None:
                lines.append(line.strip())
            else:
                extraction.dropped.append(Outcome("filtered", line.strip(), rule="ungrounded", detail=unsupported))
    if lines:
        extraction.candidates = [one_procedure(request, "\n".join(lines))]
    return extraction


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
