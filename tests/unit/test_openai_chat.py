"""How the OpenAI-compatible chat adapter fails, waits and learns."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from core.adapters.openai_chat import OpenAIChat
from core.adapters.openai_errors import retry_after
from core.ports.models import ModelError
from tests.doubles.model_server import ModelServer, Reply, error, reply

SCHEMA = {"title": "memories", "type": "object"}
ASK = [{"role": "user", "content": "as JSON: hello"}]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        running.chat.default = reply("fine")
        yield running


@pytest.mark.parametrize(
    ("answer", "about", "code", "retry_after"),
    [
        (error(429, headers={"Retry-After": "7"}), "provider", "rate_limited", 7.0),
        (error(429, headers={"retry-after-ms": "1500"}), "provider", "rate_limited", 1.5),
        (error(429, headers={"Retry-After": "soon"}), "provider", "rate_limited", None),
        (error(429, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}), "provider", "rate_limited", 0.0),
        (error(429), "provider", "rate_limited", None),
        (error(503, headers={"Retry-After": "3"}), "provider", "model_unavailable", 3.0),
        (error(500), "provider", "model_unavailable", None),
        (error(408), "provider", "model_unavailable", None),
        (error(400, "context too long"), "input", "model_rejected", None),
        (error(401, "bad key"), "input", "model_rejected", None),
        (error(404, "no such model"), "input", "model_rejected", None),
        (error(422, "unprocessable"), "input", "model_rejected", None),
        (Reply(200, b"<html>sign in</html>"), "provider", "model_unavailable", None),
        (Reply(200, {"error": {"message": "upstream", "code": 429}}), "provider", "rate_limited", None),
        (Reply(200, {"error": {"message": "upstream", "code": 400}}), "input", "model_rejected", None),
        (Reply(200, {"choices": []}), "provider", "model_unavailable", None),
        (Reply(200, []), "provider", "model_unavailable", None),
        (Reply(hang_up=True), "provider", "model_unavailable", None),
    ],
)
def test_failures_say_whose_they_are_and_how_long_to_wait(
    server: ModelServer, answer: Reply, about: str, code: str, retry_after: float | None
) -> None:
    server.chat.script(answer)
    with pytest.raises(ModelError) as caught:
        server.chat_model().complete(ASK, SCHEMA, 100)
    assert (caught.value.about, caught.value.code, caught.value.retry_after) == (about, code, retry_after)
    assert len(server.chat.requests) == 1, "the event's schedule is the only retry loop"


def test_retry_after_as_a_date_is_counted_from_now(server: ModelServer) -> None:
    later = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 120))
    server.chat.script(error(429, headers={"Retry-After": later}))
    with pytest.raises(ModelError) as caught:
        server.chat_model().complete(ASK, SCHEMA, 100)
    assert caught.value.retry_after == pytest.approx(120, abs=5)


@pytest.mark.parametrize("off", [300, -300])
def test_retry_after_as_a_date_is_counted_from_the_answers_own_date(off: int) -> None:
    """The provider's clock and ours may differ by minutes."""
    dates = [time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + off + more)) for more in (0, 120)]
    assert retry_after({"date": dates[0], "retry-after": dates[1]}) == 120


def test_nobody_listening_is_the_providers_failure() -> None:
    with ModelServer() as server:
        url = server.url
    chat = OpenAIChat(model="double", base_url=url, api_key=None)
    with pytest.raises(ModelError) as caught:
        chat.complete(ASK, None, 100)
    chat.close()
    assert (caught.value.about, caught.value.code) == ("provider", "model_unavailable")


@pytest.mark.parametrize("slow", [Reply(200, {"choices": []}, delay=60), Reply(200, b"x" * 2000, drip=0.02)])
def test_the_deadline_holds_for_silence_and_for_a_drip(server: ModelServer, slow: Reply) -> None:
    server.chat.script(slow)
    started = time.monotonic()
    with pytest.raises(ModelError) as caught:
        server.chat_model(timeout=0.3).complete(ASK, SCHEMA, 100)
    assert time.monotonic() - started < 3
    assert (caught.value.about, caught.value.code) == ("provider", "model_unavailable")


def test_an_endpoint_without_json_schema_is_asked_for_json_and_then_for_text_and_remembered(
    server: ModelServer,
) -> None:
    server.chat.script(
        error(400, "response_format json_schema is not supported"),
        error(400, "Unknown parameter: 'response_format.schema'"),
        error(422, "unknown field response_format"),
    )
    chat = server.chat_model()
    assert chat.complete(ASK, SCHEMA, 100).text == "fine"
    chat.complete(ASK, SCHEMA, 100)
    formats = [request.body.get("response_format", {}).get("type") for request in server.chat.requests]
    assert formats == ["json_schema", "json_object", "json_object", None, None]
    beside = ["schema" in request.body.get("response_format", {}) for request in server.chat.requests]
    assert beside == [False, True, False, False, False]


def test_an_endpoint_that_takes_a_schema_beside_json_object_keeps_it(server: ModelServer) -> None:
    server.chat.script(error(500, "literal_error: Input should be 'text' or 'json_object', input: json_schema"))
    chat = server.chat_model()
    for _ in range(2):
        chat.complete(ASK, SCHEMA, 100)
    assert [request.body["response_format"] for request in server.chat.requests[1:]] == [
        {"type": "json_object", "schema": SCHEMA}
    ] * 2


def test_a_reasoning_model_gets_its_own_limit_and_no_temperature(server: ModelServer) -> None:
    server.chat.script(
        error(400, "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
        error(400, "'temperature' does not support 0 with this model."),
    )
    chat = server.chat_model()
    chat.complete(ASK, SCHEMA, 100)
    last = server.chat.requests[-1].body
    assert last["max_completion_tokens"] == 100
    assert "max_tokens" not in last
    assert "temperature" not in last
    chat.complete(ASK, SCHEMA, 100)
    assert len(server.chat.requests) == 4


def test_a_refused_input_teaches_nothing_about_the_endpoint(server: ModelServer) -> None:
    server.chat.script(error(400, "content policy"))
    chat = server.chat_model()
    with pytest.raises(ModelError):
        chat.complete(ASK, SCHEMA, 100)
    chat.complete(ASK, SCHEMA, 100)
    assert server.chat.requests[-1].body["response_format"]["type"] == "json_schema"


def test_content_in_parts_and_null_content_are_text(server: ModelServer) -> None:
    parts = {"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}]}
    server.chat.script(Reply(200, parts), reply(None))
    assert server.chat_model().complete(ASK, None, 100).text == "ab"
    assert server.chat_model().complete(ASK, None, 100).text == ""
