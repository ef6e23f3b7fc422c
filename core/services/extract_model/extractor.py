"""The Extractor that asks a chat model: one call per window, at most one re-ask, nothing silently lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.domain.errors import MemlaneError
from core.domain.memory import Candidate
from core.domain.outcomes import Outcome
from core.ports.extraction import Extraction, ExtractionRequest
from core.ports.models import ChatModel, ChatReply, Usage
from core.services.extract_model.candidates import Ground, candidate
from core.services.extract_model.parse import Answer, Unreadable, parse, without_thoughts
from core.services.extract_model.procedure import procedure
from core.services.extract_model.prompt import again, material, schema, system_prompt
from core.services.extract_model.windows import Window, windows

PROCEDURAL = "procedural_memory"
_REASK_CHARACTERS = 4_000


class ModelExtractor:
    """`window_tokens` bounds the conversation in one call, `max_tokens` the answer."""

    def __init__(self, chat: ChatModel, window_tokens: int = 6_000, max_tokens: int = 4_096) -> None:
        self._chat = chat
        self._window_tokens = window_tokens
        self._max_tokens = max_tokens

    def extract(self, request: ExtractionRequest) -> Extraction:
        procedural = request.memory_type == PROCEDURAL
        roles = ("user", "assistant", "tool") if procedural else ("user", "assistant")
        turns = [turn for turn in request.turns if turn.role in roles]
        extraction = Extraction([])
        answers = [
            (window, self._ask(request, window, extraction.usage)) for window in windows(turns, self._window_tokens)
        ]
        if procedural:
            return procedure(request, answers, extraction)
        for window, answer in answers:
            _take(answer, Ground.of(request, window), extraction)
        extraction.candidates = without_repeats(extraction.candidates)
        return extraction

    def _ask(self, request: ExtractionRequest, window: Window, usage: Usage) -> Answer:
        """The items of one window. Raises MemlaneError("model_output_invalid") where a re-ask does not help."""
        messages = [
            {"role": "system", "content": system_prompt(request)},
            {"role": "user", "content": material(request, window)},
        ]
        wanted = schema(list(request.instructions.categories))
        first = self._call(messages, wanted, usage)
        try:
            return parse(first.text)
        except Unreadable as error:
            reason = _reason(error, first)
        shown = without_thoughts(first.text)[:_REASK_CHARACTERS] or "(no answer)"
        messages += [{"role": "assistant", "content": shown}, {"role": "user", "content": again(reason)}]
        second = self._call(messages, wanted, usage)
        try:
            return parse(second.text)
        except Unreadable as error:
            message = f"The chat model's answer could not be read: {_reason(error, second)}."
            raise MemlaneError("model_output_invalid", message) from error

    def _call(self, messages: Sequence[dict[str, Any]], wanted: dict[str, Any], usage: Usage) -> ChatReply:
        reply = self._chat.complete(messages, wanted, self._max_tokens)
        usage.add(reply)
        return reply


def _reason(error: Unreadable, reply: ChatReply) -> str:
    return f"{error}; it was cut off at the length limit" if reply.finish_reason == "length" else str(error)


def _take(answer: Answer, ground: Ground, extraction: Extraction) -> None:
    """Sort one window's items into candidates and outcomes."""
    for item in answer.items:
        found = candidate(item, ground)
        if isinstance(found, Candidate):
            extraction.candidates.append(found)
        elif found not in extraction.dropped:
            extraction.dropped.append(found)
    lost = ([f"{answer.bad} unreadable"] if answer.bad else []) + (["the answer was cut off"] if answer.cut else [])
    if lost:
        extraction.dropped.append(Outcome("failed", code="model_output_invalid", detail=", ".join(lost)))


def without_repeats(candidates: Sequence[Candidate]) -> list[Candidate]:
    """One candidate for each text of each side, whatever its case and punctuation; sources are joined."""
    kept: dict[tuple[str, str], Candidate] = {}
    for found in candidates:
        letters = "".join(char for char in found.text.casefold() if char.isalnum())
        key = (found.attributed_to, letters or found.text)
        first = kept.setdefault(key, found)
        if first is not found:
            turns = tuple(dict.fromkeys([*first.source_turns, *found.source_turns]))
            kept[key] = replace(first, source_turns=turns)
    return list(kept.values())
