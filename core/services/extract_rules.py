"""The Extractor without a chat model: the rules of core/text, deterministic and without cost."""

from __future__ import annotations

import re
from dataclasses import replace

from core.domain.memory import Candidate, Supersede, Turn
from core.domain.outcomes import Outcome
from core.ports.extraction import Extraction, ExtractionRequest
from core.services.extract_model.procedure import one_procedure
from core.text.rules import extract
from core.text.scripts import is_han
from core.text.slots import closed_by
from core.text.tokens import tokens

_LIST_BORDER = re.compile(r"[,;、，；\n]|\s+(?:and|or|y|et|und|和|或)\s+")


class RuleExtractor:
    """Keeps the speakers' own words; see core.text.rules for what is kept and dropped.

    What needs understanding needs a model: `includes`, custom instructions ("never store health data") and
    categories have no effect here. `excludes` is read as a list of key words and phrases: a candidate that holds
    one of them, or all its words in whatever form, is filtered (rule `excluded`); so "salary, phone number" drops
    what names a salary or phone numbers, but not "+49 170 …" alone.
    """

    def extract(self, request: ExtractionRequest) -> Extraction:
        if request.memory_type == "procedural_memory":
            return _steps(request)
        turns = [turn for turn in request.turns if turn.role in ("user", "assistant")]
        extraction = Extraction([])
        unwanted = _phrases(request.instructions.excludes)
        shown = [memory.text for memory in request.shown]
        for found in extract(turns, request.earlier, shown):
            if any(_holds(found.text, phrase) for phrase in unwanted):
                extraction.dropped.append(Outcome("filtered", found.text, rule="excluded"))
            else:
                closed = tuple(Supersede(index, "changed") for index in closed_by(found.text, shown))
                extraction.candidates.append(replace(found, supersedes=closed))
        return extraction


def _phrases(excludes: str | None) -> list[str]:
    return [part.strip() for part in _LIST_BORDER.split(excludes or "") if part.strip()]


def _holds(text: str, phrase: str) -> bool:
    """Word for word, or each word of it in some form (search tokens hold stems), which needs words to be spaced."""
    if phrase.casefold() in text.casefold():
        return True
    found = set(tokens(text))
    words = [set(tokens(word)) for word in phrase.split()]
    return not is_han(phrase) and all(word & found for word in words)


def _steps(request: ExtractionRequest) -> Extraction:
    """One memory: the run's messages in order, one step a line, each with who acted."""
    turns = [turn for turn in request.turns if turn.role not in ("system", "developer")]
    lines = [f"{number}. {_actor(turn)}: {' '.join(turn.text.split())}" for number, turn in enumerate(turns, 1)]
    candidates: list[Candidate] = [one_procedure(request, "\n".join(lines))] if lines else []
    return Extraction(candidates)


def _actor(turn: Turn) -> str:
    return turn.name or turn.role
