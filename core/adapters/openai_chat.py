"""ChatModel over any OpenAI-compatible /chat/completions endpoint."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import openai
import orjson

from core.adapters.deadline import CLOSE_SECONDS, MODEL_CALLS
from core.adapters.openai_dialect import Dialect
from core.adapters.openai_errors import CHAT, describe, status_error, to_model_error
from core.ports.models import ChatReply, ModelError

_MAX_DIALECTS = 7  # more refusals than there are choices would mean that two of them undo each other


class OpenAIChat:
    """Structured output where the endpoint has it; its dialect is learned once and kept for the process.

    `timeout` is the total deadline of one `complete`, in seconds. No retries here: the event's own
    schedule is the one retry loop.
    """

    def __init__(self, *, model: str, base_url: str | None, api_key: str | None, timeout: float = 60.0) -> None:
        self.name = model
        self._timeout = timeout
        self._dialect = Dialect()
        # local servers want no key, but the client refuses to start without one
        self._client = openai.AsyncOpenAI(
            api_key=api_key or "none", base_url=base_url, max_retries=0, timeout=timeout
        )

    def complete(
        self, messages: Sequence[dict[str, Any]], schema: dict[str, Any] | None, max_tokens: int
    ) -> ChatReply:
        ends = time.monotonic() + self._timeout
        dialect = self._dialect
        for _ in range(_MAX_DIALECTS):
            try:
                reply = self._call(messages, dialect.parameters(schema, max_tokens), ends - time.monotonic())
            except openai.APIStatusError as error:
                following = dialect.after_refusal(error.status_code, describe(error), schema is not None)
                if following is None:
                    raise to_model_error(error, CHAT) from error
                dialect = following
            else:
                self._dialect = dialect
                return reply
        raise ModelError("The endpoint refuses every form of the request.", about="input", code=CHAT.rejected)

    def close(self) -> None:
        """Give the connections back."""
        MODEL_CALLS.run(self._client.close(), CLOSE_SECONDS)

    def _call(self, messages: Sequence[dict[str, Any]], keys: dict[str, Any], seconds: float) -> ChatReply:
        body: dict[str, Any] = {"model": self.name, "messages": list(messages), **keys}
        call = self._client.chat.completions.with_raw_response.create(**body)
        try:
            content: bytes = MODEL_CALLS.run(call, max(seconds, 0.001)).content
        except openai.APIStatusError:
            raise
        except (openai.OpenAIError, TimeoutError) as error:
            raise to_model_error(error, CHAT) from error
        return read_reply(content)


def read_reply(content: bytes) -> ChatReply:
    """The reply of a 200 body. Raises ModelError when it is no chat completion (a proxy's page, `{"error": …}`)."""
    try:
        body = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise ModelError("The endpoint's answer is not JSON.", code=CHAT.unavailable) from error
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise _error_in_200(body)
    usage = _mapping(body.get("usage"))
    return ChatReply(
        text=_text(_mapping(choices[0].get("message")).get("content")),
        finish_reason=choices[0].get("finish_reason"),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
    )


def _error_in_200(body: Any) -> ModelError:
    """Some gateways answer 200 with an error inside; its own code, where it is an HTTP status, decides."""
    error = _mapping(_mapping(body).get("error"))
    code = error.get("code")
    status = code if isinstance(code, int) and 400 <= code < 600 else 502
    return status_error(status, str(error.get("message") or "no choices in the answer")[:300], CHAT)


def _text(content: Any) -> str:
    """Content as a string; gateways that answer in parts have their text parts joined; null is empty."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value >= 0 else 0
