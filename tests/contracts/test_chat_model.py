"""The suite of the ChatModel port, run on every back end."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from core.ports.models import ChatModel, ChatReply
from tests.doubles.fast import FastChat
from tests.doubles.model_server import ModelServer, memories

SCHEMA = {"title": "memories", "type": "object", "properties": {"memories": {"type": "array"}}}
MESSAGES = [
    {"role": "system", "content": "Extract as JSON."},
    {"role": "user", "content": '{"turn": 0, "role": "user", "text": "I like tea"}'},
]


@pytest.fixture(params=["openai", "fast"])
def chat(request: pytest.FixtureRequest) -> Iterator[ChatModel]:
    if request.param == "fast":
        yield FastChat()
        return
    with ModelServer() as server:
        server.chat.default = memories("I like tea")
        yield server.chat_model()


def test_one_call_gives_the_unparsed_text_and_its_cost(chat: ChatModel) -> None:
    reply = chat.complete(MESSAGES, SCHEMA, 500)
    assert isinstance(reply, ChatReply)
    assert json.loads(reply.text)["memories"][0]["text"] == "I like tea"
    assert reply.finish_reason == "stop"
    assert reply.prompt_tokens > 0
    assert reply.completion_tokens > 0


def test_free_text_needs_no_schema(chat: ChatModel) -> None:
    assert chat.complete(MESSAGES, None, 500).text


def test_it_says_its_name(chat: ChatModel) -> None:
    assert chat.name
