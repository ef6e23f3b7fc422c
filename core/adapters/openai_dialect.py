"""What one OpenAI-compatible endpoint understands, learned from its refusals.

Endpoints differ in three ways that matter here: structured output (json_schema, json_object with a schema beside
it or bare, none), the name of the token limit (`max_tokens`, or `max_completion_tokens` with reasoning models), and
whether a temperature may be set. A refusal that names one of them is answered by asking once more without it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

Format = Literal["json_schema", "object_with_schema", "json_object", "none"]

# object_with_schema: {"type": "json_object", "schema": …}, as the server of llama-cpp-python has it
_NEXT_FORMAT: dict[Format, Format] = {
    "json_schema": "object_with_schema",
    "object_with_schema": "json_object",
    "json_object": "none",
}
_FORMAT_WORDS = (
    "response_format",
    "response format",
    "json_schema",
    "json schema",
    "json_object",
    "json mode",
    "structured output",
    "guided",
    "grammar",
)


@dataclass(frozen=True)
class Dialect:
    format: Format = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True

    def parameters(self, schema: dict[str, Any] | None, max_tokens: int) -> dict[str, Any]:
        """The request keys of a call with this output schema (None = free text)."""
        keys: dict[str, Any] = {self.limit: max_tokens}
        if self.temperature:
            keys["temperature"] = 0
        if schema is None or self.format == "none":
            return keys
        if self.format == "object_with_schema":
            return keys | {"response_format": {"type": "json_object", "schema": schema}}
        if self.format == "json_object":
            return keys | {"response_format": {"type": "json_object"}}
        # not strict: strict mode would force every optional key, and many servers know no `strict`
        wrapped = {"name": schema.get("title", "answer"), "schema": schema}
        return keys | {"response_format": {"type": "json_schema", "json_schema": wrapped}}

    def after_refusal(self, status: int, text: str, structured: bool) -> Dialect | None:
        """The dialect to try next, or None where the refusal is about something else."""
        words = text.lower()
        if status not in (400, 404, 415, 422, 500, 501):
            return None
        if self.limit == "max_tokens" and "max_completion_tokens" in words:
            return replace(self, limit="max_completion_tokens")
        if self.limit == "max_completion_tokens" and "max_completion_tokens" in words:
            return replace(self, limit="max_tokens")
        if self.temperature and "temperature" in words:
            return replace(self, temperature=False)
        if structured and self.format != "none" and any(word in words for word in _FORMAT_WORDS):
            return replace(self, format=_NEXT_FORMAT[self.format])
        return None
