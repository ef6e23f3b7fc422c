"""Extraction by a model in one line: requests, and the extractor on a scripted endpoint."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from core.domain.memory import ShownMemory, Turn
from core.domain.scope import Scope
from core.ports.extraction import Extraction, ExtractionRequest
from core.services.extract_model import ModelExtractor
from tests.doubles.model_server import ModelServer

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


def said(*texts: str, role: str = "user", name: str | None = None) -> list[Turn]:
    return [Turn(index, role, text, NOW, name) for index, text in enumerate(texts)]


def request_of(turns: list[Turn], **more: Any) -> ExtractionRequest:
    fields: dict[str, Any] = {"scope": Scope(user_id="u"), "earlier": [], "shown": [], "now": NOW}
    return ExtractionRequest(turns=turns, **(fields | more))


def extract(server: ModelServer, request: ExtractionRequest, window_tokens: int = 6_000) -> Extraction:
    return ModelExtractor(server.chat_model(), window_tokens=window_tokens).extract(request)


def texts(extraction: Extraction) -> list[str]:
    return [candidate.text for candidate in extraction.candidates]


def shown(*lines: str) -> list[ShownMemory]:
    return [ShownMemory(uuid4(), line, "key", NOW) for line in lines]
