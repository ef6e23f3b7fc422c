"""Models over real sockets that fail, are slow or talk nonsense: what becomes of the event."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.adapters.qdrant import QdrantIndex
from core.ports.models import ModelError
from core.services.breaker import Breaker
from core.services.extract_model import ModelExtractor
from core.services.guarded import GuardedChat
from core.services.runtime import Limits
from tests.doubles.model_server import ModelServer, embeddings, error, memories, reply
from tests.doubles.pipeline import Pipeline, make_pipeline
from tests.waiting import wait_until


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(dims=16) as running:
        running.chat.default = memories("User likes tea")
        yield running


@pytest.fixture
def breaker() -> Breaker:
    return Breaker(lambda: datetime.now(UTC))


@pytest.fixture
def make_line(
    own_place: tuple[str, QdrantIndex, str], server: ModelServer, breaker: Breaker
) -> Iterator[Callable[..., Pipeline]]:
    """A pipeline whose models are the server's, with the limits asked for."""
    made: list[Pipeline] = []

    def make(**limits: Any) -> Pipeline:
        embedder = server.embedder()
        line = make_pipeline(*own_place, embedder, Limits(**limits))
        called = server.chat_model()
        extractor = ModelExtractor(GuardedChat(called, breaker, line.signals))
        line.runtime = replace(line.runtime, extractor=extractor)
        made.append(line)
        return line

    yield make
    for line in made:
        with line.database.operations() as tx:  # claims look across projects: leave nothing open
            tx.connection.execute(text("DELETE FROM events WHERE project_id = :p"), {"p": line.project})
        line.database.close()


def end_of(line: Pipeline, event: UUID) -> Any:
    """The event's row once it has ended."""

    def ended() -> Any:
        line.drain()
        row = line.event(event)
        return row if row.state in ("projected", "failed") else None

    return wait_until(ended, 20, what="the event's end")


def texts(line: Pipeline) -> list[str]:
    return [memory.memory for memory in line.memories()]


def test_calls_and_tokens_are_shown_on_the_event(make_line: Callable[..., Pipeline]) -> None:
    """C09."""
    line = make_line()
    row = end_of(line, line.add([{"role": "user", "content": "I like tea"}] * 6))
    assert row.usage["model_calls"] == 1
    assert (row.usage["prompt_tokens"], row.usage["completion_tokens"]) == (100, 20)


def test_a_busy_provider_is_asked_again_when_it_says(make_line: Callable[..., Pipeline], server: ModelServer) -> None:
    """C18."""
    line = make_line()
    server.chat.script(*[error(429, headers={"Retry-After": "1"})] * 2)
    row = end_of(line, line.add("I like tea"))
    assert (row.state, row.crashes, texts(line)) == ("projected", 0, ["User likes tea"])
    assert row.completed_at - row.created_at >= timedelta(seconds=2)
    assert len(server.chat.requests) == 3


def test_a_provider_that_stays_busy_fails_the_event_at_its_age(
    make_line: Callable[..., Pipeline], server: ModelServer
) -> None:
    """C18."""
    line = make_line(max_event_age=1.5)
    server.chat.default = error(429, headers={"Retry-After": "1"})
    row = end_of(line, line.add("I like tea"))
    assert (row.state, row.error["code"]) == ("failed", "rate_limited")


def test_waiting_for_an_open_breaker_is_no_try(
    make_line: Callable[..., Pipeline], server: ModelServer, breaker: Breaker
) -> None:
    line = make_line()
    breaker.record(ModelError("slow down", code="rate_limited", retry_after=60))
    event = line.add("I like tea")
    line.drain()
    row = line.event(event)
    assert (row.state, row.tries, row.crashes) == ("retrying", 0, 0)
    assert row.due_at - datetime.now(UTC) > timedelta(seconds=50)
    assert server.chat.requests == []
    assert [fields["outcome"] for fields in line.signals.named("event_attempt")] == ["snooze"]


def test_a_refused_request_ends_soon(make_line: Callable[..., Pipeline], server: ModelServer) -> None:
    line = make_line(input_tries=2)
    server.chat.default = error(400, "this content is refused")
    row = end_of(line, line.add("I like tea"))
    assert (row.state, row.error["code"], row.tries) == ("failed", "model_rejected", 1)
    assert "this content is refused" in row.error["detail"]


def test_nonsense_is_asked_for_twice_and_fails(make_line: Callable[..., Pipeline], server: ModelServer) -> None:
    """C01."""
    line = make_line()
    server.chat.default = reply("I would rather talk about the weather")
    row = end_of(line, line.add("I like tea"))
    assert (row.state, row.error["code"]) == ("failed", "model_output_invalid")
    assert len(server.chat.requests) == 2
    assert texts(line) == []


def test_a_text_that_the_embedder_refuses_is_told_and_its_sibling_stored(
    make_line: Callable[..., Pipeline], server: ModelServer
) -> None:
    """C17."""
    line = make_line()
    server.chat.default = memories("User is allergic to penicillin", "User skis")
    event = line.add("I'm allergic to penicillin. I ski.")
    server.embeddings.default = lambda request: (
        error(500) if "User is allergic" in request.text else embeddings(request, 16)
    )
    row = end_of(line, event)
    assert row.state == "projected"
    assert texts(line) == ["User skis"]
    failed = [outcome for outcome in row.outcomes if outcome["outcome"] == "failed"]
    assert [(outcome["memory"], outcome["code"]) for outcome in failed] == [
        ("User is allergic to penicillin", "embedding_failed")
    ]


def test_an_embedder_that_is_down_delays_and_loses_nothing(
    make_line: Callable[..., Pipeline], server: ModelServer
) -> None:
    line = make_line()
    event = line.add("I like tea")
    server.embeddings.script(*[error(503)] * 4)
    row = end_of(line, event)
    assert (row.state, texts(line)) == ("projected", ["User likes tea"])
    assert row.tries >= 1
