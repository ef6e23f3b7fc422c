"""Ask a chat model for one list, in JSON: a call, at most one re-ask, and nothing unreadable taken for an answer."""

from __future__ import annotations

from typing import Any

from core.ports.models import ChatModel
from core.services.extract_model.parse import listed_under


class Unusable(Exception):
    """The model's answers, both of them, hold no such list."""


def ask(
    chat: ChatModel, system: str, user: str, schema: dict[str, Any], key: str, max_tokens: int = 2_048
) -> list[Any]:
    """The list under `key` of the model's answer, unchecked but for being a list. Raises ModelError, Unusable."""
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    reply = chat.complete(messages, schema, max_tokens)
    found = listed_under(key, reply.text)
    if found is not None:
        return found
    again = f'Your answer holds no JSON object with a list under "{key}". Answer again, with nothing but that object.'
    shown = [
        {"role": "assistant", "content": reply.text[:4_000] or "(no answer)"},
        {"role": "user", "content": again},
    ]
    found = listed_under(key, chat.complete([*messages, *shown], schema, max_tokens).text)
    if found is None:
        raise Unusable(f'no list under "{key}" in two answers')
    return found
