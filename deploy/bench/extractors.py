"""What `bench extract` measures: the product's extractor on a chat endpoint, or the built-in rules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from core.adapters.openai_chat import OpenAIChat
from core.ports.extraction import Extractor
from core.services.extract_model import ModelExtractor
from core.services.extract_rules import RuleExtractor
from deploy.bench.extract import Counting

Measured = tuple[str, Extractor, Counting | None]


@dataclass(frozen=True)
class Endpoint:
    """`timeout` in seconds; `base_url` None is OpenAI's own."""

    model: str
    base_url: str | None
    api_key: str | None
    timeout: float = 60.0
    max_tokens: int = 4_096


@contextmanager
def by_model(endpoint: Endpoint) -> Iterator[Measured]:
    chat = OpenAIChat(
        model=endpoint.model, base_url=endpoint.base_url, api_key=endpoint.api_key, timeout=endpoint.timeout
    )
    counting = Counting(chat)
    try:
        yield endpoint.model, ModelExtractor(counting, max_tokens=endpoint.max_tokens), counting
    finally:
        chat.close()


@contextmanager
def by_rules() -> Iterator[Measured]:
    yield "built-in rules", RuleExtractor(), None
