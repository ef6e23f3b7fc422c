"""The error catalogue: code → kind → HTTP status, in one table, read by the HTTP layer and by events.

A failed event's `error` and the body of a 4xx are the same object (`MemlaneError.as_dict`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Entry:
    """One kind of failure. `key` is the body key in which the documented text stands for this code."""

    code: str
    kind: str  # invalid | auth | missing | conflict | limit | unavailable | failed
    status: int
    message: str
    key: str = "error"


_ENTRIES = (
    # invalid: the request itself
    Entry("invalid_request", "invalid", 400, "The request is not valid."),
    Entry("body_missing", "invalid", 400, "A JSON body is required."),
    Entry("json_invalid", "invalid", 400, "The body is not valid JSON."),
    Entry("json_duplicate_key", "invalid", 400, "The body names one key twice."),
    Entry("json_too_deep", "invalid", 400, "The body is nested too deeply or has too many parts."),
    Entry("not_an_object", "invalid", 400, "The body must be a JSON object."),
    Entry("nul_character", "invalid", 400, "Text must not contain NUL characters or lone surrogates."),
    Entry("unsupported_media_type", "invalid", 415, "The body must be application/json."),
    Entry("body_too_large", "invalid", 413, "The body is larger than this server accepts."),
    Entry("too_many_windows", "invalid", 413, "The conversation is too long for one add; split it."),
    Entry("validation_failed", "invalid", 400, "Invalid input data."),
    Entry("scope_missing", "invalid", 400, "One of user_id, agent_id, app_id, run_id is required."),
    Entry("scope_top_level", "invalid", 400, "Entity ids belong inside 'filters'."),
    Entry("filters_missing", "invalid", 400, "Filters are required and cannot be empty."),
    Entry("filters_invalid", "invalid", 400, "The filter is not valid.", key="filters"),
    Entry(
        "filters_unscoped",
        "invalid",
        400,
        "One of the filters: app_id, user_id, agent_id, run_id is required!",
        key="message",
    ),
    Entry("memory_id_invalid", "invalid", 400, "memory_id should be a valid UUID"),
    Entry("entity_type_invalid", "invalid", 400, "Invalid entity type", key="message"),
    Entry("batch_too_large", "invalid", 400, "Too many memories in a single request."),
    Entry("memory_immutable", "invalid", 400, "This memory is immutable and cannot be updated."),
    Entry("idempotency_key_invalid", "invalid", 400, "Idempotency-Key must be 1 to 255 visible ASCII characters."),
    # auth
    Entry("unauthenticated", "auth", 401, "Invalid API key.", key="detail"),
    Entry("forbidden", "auth", 403, "This API key may not do that.", key="detail"),
    # missing
    Entry("not_found", "missing", 404, "Not found.", key="detail"),
    Entry("memory_not_found", "missing", 404, "Memory not found!"),
    Entry("event_not_found", "missing", 404, "Event not found or you don't have permission to access it."),
    Entry("entity_not_found", "missing", 404, "Entity not found.", key="detail"),
    Entry("page_invalid", "missing", 404, "Invalid page.", key="detail"),
    Entry("method_not_allowed", "missing", 405, "Method not allowed.", key="detail"),
    # conflict
    Entry("duplicate_memory", "conflict", 409, "Another active memory already has this text."),
    Entry("event_not_retryable", "conflict", 409, "Only a failed event can be retried."),
    Entry("idempotency_mismatch", "conflict", 422, "This Idempotency-Key was used with another body."),
    Entry("version_mismatch", "conflict", 412, "The memory has changed since the given version."),
    # limit
    Entry("rate_limited", "limit", 429, "Too many requests."),
    Entry("too_many_open_events", "limit", 429, "Too many open events in this project."),
    # unavailable: somebody else's fault, worth trying again
    Entry("database_unavailable", "unavailable", 503, "The database is not reachable."),
    Entry("index_unavailable", "unavailable", 503, "The vector index is not reachable."),
    Entry("embedder_unavailable", "unavailable", 503, "The embedding model is not reachable."),
    Entry("model_unavailable", "unavailable", 503, "The chat model is not reachable."),
    Entry("search_busy", "unavailable", 503, "Too many searches at once."),
    # failed: what ends an event
    Entry("model_output_invalid", "failed", 502, "The chat model's answer could not be read."),
    Entry("model_rejected", "failed", 502, "The chat model refused the request."),
    Entry("embedding_failed", "failed", 502, "The embedder refused a text."),
    Entry("worker_lost", "failed", 500, "The worker was lost several times while it worked on this event."),
    Entry("erased", "failed", 410, "The scope was erased while this event was open."),
    Entry("timed_out", "failed", 504, "The event did not finish within its age limit."),
    Entry("internal", "failed", 500, "An unexpected error happened."),
)
CATALOGUE: dict[str, Entry] = {entry.code: entry for entry in _ENTRIES}


class MemlaneError(Exception):
    """An error of the catalogue.

    `message` replaces the catalogue's text, `pointer` names the field (JSON pointer-like: "messages[2].content"),
    `retry_after` is whole seconds and becomes the Retry-After header, `extra` adds keys to the body.
    """

    def __init__(
        self,
        code: str,
        message: str | None = None,
        *,
        pointer: str | None = None,
        retry_after: int | None = None,
        **extra: Any,
    ) -> None:
        self.entry = CATALOGUE[code]
        self.message = message or self.entry.message
        self.pointer = pointer
        self.retry_after = retry_after
        self.extra = extra
        super().__init__(f"{code}: {self.message}")

    @property
    def code(self) -> str:
        return self.entry.code

    @property
    def status(self) -> int:
        return self.entry.status

    def as_dict(self) -> dict[str, Any]:
        """The body: the documented key, and the text again under `detail`, which every client can read."""
        body: dict[str, Any] = {self.entry.key: self.message, "detail": self.message, "code": self.code}
        if self.pointer:
            body["pointer"] = self.pointer
        return body | self.extra
