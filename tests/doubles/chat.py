"""A chat model in the test's own process, that replies as scripted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.ports.models import ChatReply
from tests.doubles.pipeline import Pipeline


class ScriptedChat:
    """Replies in order, then `default`; exceptions are raised."""

    name = "scripted"

    def __init__(self, *replies: str | Exception, default: str = "{}") -> None:
        self.replies = list(replies)
        self.default = default
        self.prompts: list[str] = []

    def complete(
        self, messages: Sequence[dict[str, Any]], schema: dict[str, Any] | None, max_tokens: int
    ) -> ChatReply:
        self.prompts.append("\n".join(str(message["content"]) for message in messages))
        step = self.replies.pop(0) if self.replies else self.default
        if isinstance(step, Exception):
            raise step
        return ChatReply(step, "stop", 10, 5)


def give_chat(pipeline: Pipeline, chat: ScriptedChat, **settings: Any) -> ScriptedChat:
    """The pipeline's runtime asks this chat model from now on; `settings` become the project's."""
    pipeline.runtime = replace(pipeline.runtime, models=replace(pipeline.runtime.models, chat=chat))
    with pipeline.database.transaction(pipeline.project) as tx:
        tx.projects.update_project(pipeline.project, name=None, description=None, settings=settings)
    return chat
