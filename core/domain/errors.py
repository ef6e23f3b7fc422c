"""The error catalogue: code → kind → HTTP status, in one table, read by the HTTP layer and by events.

A failed event's `error` and the body of a 4xx are the same object (`MemlaneError.as_dict`). The platform's
documented bodies are not uniform: `key` and `shape` of an entry say where the text stands, so that old and new
clients read what they expect; `detail` and `code` are added to every one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Entry:
    """One kind of failure. `key` is the body key in which the documented text stands for this code.

    `shape` is how it stands there: "text" (`{key: text}`), "list" (`{key: [text]}`), "details"
    (`{"error": "400 Bad Request", "details": {"message": text}}`) or "array" (the body is `[text]`, nothing else).
    """

    code: str
    kind: str  # invalid | auth | missing | conflict | limit | unavailable | failed
    status: int
    message: str
    key: str = "error"
    shape: str = "text"


_ENTRIES = (
    # invalid: the request itself
    Entry("invalid_request", "invalid", 400, "The request is not valid."),
    Entry("url_invalid", "invalid", 400, "The URL is not valid percent-encoded UTF-8."),
    Entry("url_too_long", "invalid", 414, "The URL is longer than this server accepts."),
    Entry("headers_too_large", "invalid", 431, "The headers are more or longer than this server accepts."),
    Entry("host_invalid", "invalid", 400, "Exactly one Host header, with a plain host and port, is required."),
    Entry("body_missing", "invalid", 400, "A JSON body is required."),
    Entry("body_timeout", "invalid", 408, "The body did not arrive in time."),
    Entry("json_invalid", "invalid", 400, "The body is not valid JSON."),
    Entry("json_duplicate_key", "invalid", 400, "The body names one key twice."),
    Entry("json_too_deep", "invalid", 400, "The body is nested too deeply or has too many parts."),
    Entry("json_number_out_of_range", "invalid", 400, "Numbers must be finite; integers must fit 64 bits."),
    Entry("not_an_object", "invalid", 400, "The body must be a JSON object."),
    Entry("nul_character", "invalid", 400, "Text must not contain NUL characters or lone surrogates."),
    Entry("unsupported_media_type", "invalid", 415, "The body must be application/json in UTF-8."),
    Entry("body_too_large", "invalid", 413, "The body is larger than this server accepts."),
    Entry("too_many_windows", "invalid", 413, "The conversation is too long for one add; split it."),
    Entry("validation_failed", "invalid", 400, "Invalid input data."),
    Entry("add_invalid", "invalid", 400, "Invalid input data. Please refer to /docs.", shape="details"),
    Entry("parameter_repeated", "invalid", 400, "A query parameter is given twice."),
    Entry(
        "scope_missing",
        "invalid",
        400,
        "Invalid input data. At least one of user_id, agent_id, app_id, run_id is required. Please refer to /docs.",
        shape="details",
    ),
    Entry("scope_top_level", "invalid", 400, "Entity ids belong inside 'filters'."),
    Entry("filters_missing", "invalid", 400, "Filters are required and cannot be empty. Please refer to /docs."),
    Entry("filters_invalid", "invalid", 400, "The filter is not valid.", key="filters", shape="list"),
    Entry(
        "filters_unscoped",
        "invalid",
        400,
        "One of the filters: app_id, user_id, agent_id, run_id is required!",
        key="message",
    ),
    Entry(
        "filters_unscoped_v1_list",
        "invalid",
        400,
        "One of the filters: app_id, user_id, agent_id, run_id is required!",
        shape="array",
    ),
    Entry(
        "filters_unscoped_v1_search",
        "invalid",
        400,
        "At least one of the filters: agent_id, user_id, app_id, run_id is required!",
        key="message",
    ),
    Entry("limit_too_large", "invalid", 400, "limit must be <= 200"),
    Entry("memory_id_invalid", "invalid", 400, "memory_id should be a valid UUID"),
    Entry("entity_type_invalid", "invalid", 400, "Invalid entity type", key="message"),
    Entry("entity_type_invalid_v1", "invalid", 400, "Invalid entity type"),
    Entry("entity_id_invalid", "invalid", 400, "Invalid entity ID. Must be an integer."),
    Entry("batch_update_too_large", "invalid", 400, "Maximum of 1000 memories can be updated in a single request"),
    Entry("batch_delete_too_large", "invalid", 400, "Maximum of 1000 memories can be deleted in a single request"),
    Entry("memory_immutable", "invalid", 400, "This memory is immutable and cannot be updated."),
    Entry("idempotency_key_invalid", "invalid", 400, "Idempotency-Key must be 1 to 255 visible ASCII characters."),
    Entry("webhook_not_allowed", "invalid", 400, "This URL is not allowed as an endpoint."),
    Entry("webhooks_off", "invalid", 400, "This server has no MEMLANE_SECRET_KEY: webhooks are off."),
    # auth
    Entry("unauthenticated", "auth", 401, "Invalid API key. Send it as 'Authorization: Token <key>'.", key="detail"),
    Entry("forbidden", "auth", 403, "This API key may not do that.", key="detail"),
    # missing
    Entry("not_found", "missing", 404, "Not found.", key="detail"),
    Entry("memory_not_found", "missing", 404, "Memory not found!"),
    Entry("version_not_found", "missing", 404, "The memory has no such version."),
    Entry("erasure_not_found", "missing", 404, "Erasure not found", key="detail"),
    Entry("webhook_not_found", "missing", 404, "Webhook not found"),
    Entry("delivery_not_found", "missing", 404, "Delivery not found", key="detail"),
    Entry("event_not_found", "missing", 404, "Event not found or you don't have permission to access it."),
    Entry("entity_not_found", "missing", 404, "Entity not found.", key="detail"),
    Entry("page_invalid", "missing", 404, "Invalid page.", key="detail"),
    Entry("project_not_found", "missing", 404, "Project not found", key="message"),
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
    Entry(
        "embedder_conflict",
        "unavailable",
        503,
        "The configured embedding model is not the one that the stored vectors were made with.",
    ),
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
        if self.entry.shape == "list":
            body[self.entry.key] = [self.message]
        elif self.entry.shape == "details":
            body |= {"error": "400 Bad Request", "details": {"message": self.message}}
        if self.pointer:
            body["pointer"] = self.pointer
        return body | self.extra

    def as_body(self) -> dict[str, Any] | list[str]:
        """What an HTTP answer carries: `as_dict`, or the bare array that one old endpoint documents."""
        return [self.message] if self.entry.shape == "array" else self.as_dict()
