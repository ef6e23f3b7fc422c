"""From the failures of an OpenAI-compatible endpoint to ModelError."""

from __future__ import annotations

import email.utils
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import openai

from core.ports.models import ModelError

# 4xx answers that speak of the provider's state, not of this request
_TRANSIENT_4XX = {408, 409, 425, 429}
_EXCERPT = 300


@dataclass(frozen=True)
class Codes:
    """Which catalogue codes a port uses: for a provider that is not there, and for a refused request."""

    unavailable: str
    rejected: str


CHAT = Codes("model_unavailable", "model_rejected")
EMBEDDINGS = Codes("embedder_unavailable", "embedding_failed")


def to_model_error(error: openai.OpenAIError | TimeoutError, codes: Codes, now: datetime | None = None) -> ModelError:
    """429, 408, 409, 425, 5xx, connection and time-out are about the provider; other 4xx about the input."""
    if isinstance(error, openai.APIStatusError):
        return status_error(error.status_code, describe(error), codes, error.response.headers, now)
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return ModelError("No answer within the deadline.", code=codes.unavailable)
    cause = error.__cause__
    detail = f" ({type(cause).__name__}: {cause})" if cause is not None else ""
    return ModelError(f"The endpoint cannot be reached: {error}{detail}"[:_EXCERPT], code=codes.unavailable)


def status_error(
    status: int, text: str, codes: Codes, headers: Mapping[str, str] | None = None, now: datetime | None = None
) -> ModelError:
    """ModelError of one HTTP status; `headers` may carry Retry-After, which is kept for 429 and 5xx alike."""
    message = f"The endpoint answered {status}: {text}"
    if status < 500 and status not in _TRANSIENT_4XX:
        return ModelError(message, about="input", code=codes.rejected)
    code = "rate_limited" if status == 429 else codes.unavailable
    return ModelError(message, code=code, retry_after=retry_after(headers or {}, now))


def describe(error: openai.APIStatusError) -> str:
    """The endpoint's own words, shortened. An HTML error page tells nothing beyond its status."""
    body: Any = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        body = inner.get("message", inner) if isinstance(inner, dict) else inner
    text = str(body if body is not None else error.message)
    return "(an HTML page)" if "<html" in text.lower() else text[:_EXCERPT]


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds to wait: `retry-after-ms`, or Retry-After as seconds or as an HTTP date (RFC 9110 §10.2.3).

    A date is reckoned from the answer's own Date, where it has one: the two clocks may differ.
    """
    millis = _number(headers.get("retry-after-ms"))
    if millis is not None:
        return millis / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    when, sent = _moment(value), _moment(headers.get("date"))
    if when is None:
        return None
    return max(0.0, (when - (sent or now or datetime.now(UTC))).total_seconds())


def _moment(value: str | None) -> datetime | None:
    try:
        when = email.utils.parsedate_to_datetime(value or "")
    except ValueError:
        return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else None
    except ValueError:
        return None
    # NaN fails both comparisons, infinity the second
    return number if number is not None and 0 <= number < 1e9 else None
