"""The body of an add."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field, field_validator, model_validator

from api.schemas.base import Body, Day, EntityId, Epoch, Text
from core.domain.errors import MemlaneError
from core.domain.scope import ENTITY_FIELDS, Scope

MAX_MESSAGES = 1_000
MAX_METADATA_KEYS = 256
SPEAKERS = ("user", "human", "assistant", "agent", "ai", "model")
ROLES = (*SPEAKERS, "system", "developer", "tool", "function")


class Part(Body):
    """One part of a message's content; parts of other types than text are judged by the worker."""

    type: str
    text: str | None = None

    @model_validator(mode="after")
    def _text_has_text(self) -> Part:
        if self.type == "text" and self.text is None:
            raise ValueError("a part of type 'text' needs 'text'")
        return self


class Message(Body):
    role: str = Field("user", json_schema_extra={"enum": list(ROLES)})
    content: str | Part | list[Part | str] | None = None
    name: str | None = None
    timestamp: int | float | str | None = Field(None, description="When it was said; epoch or ISO 8601.")

    @field_validator("role")
    @classmethod
    def _known_role(cls, value: str) -> str:
        if value not in ROLES:
            raise ValueError(f"must be one of {', '.join(ROLES)}")
        return value

    @model_validator(mode="after")
    def _says_something(self) -> Message:
        calls = self.extra.get("tool_calls") or self.extra.get("function_call")
        if self.role in SPEAKERS and not calls and not self._content_given():
            raise ValueError("content must not be empty")
        return self

    def _content_given(self) -> bool:
        content = self.content
        return bool(content.strip()) if isinstance(content, str) else bool(content)


def _as_list(value: Any) -> Any:
    """A bare string is one user message, a bare object one message."""
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    return [value] if isinstance(value, dict) else value


class Ids(Body):
    """The four ids inside `filters`, where some clients put them."""

    user_id: EntityId | None = Field(None, validation_alias=AliasChoices("user_id", "userId"))
    agent_id: EntityId | None = Field(None, validation_alias=AliasChoices("agent_id", "agentId"))
    app_id: EntityId | None = Field(None, validation_alias=AliasChoices("app_id", "appId"))
    run_id: EntityId | None = Field(None, validation_alias=AliasChoices("run_id", "runId"))


class Add(Body):
    """What to remember, and whose it is. At least one of the four ids is required."""

    messages: Annotated[
        list[Message],
        BeforeValidator(_as_list),
        Field(min_length=1, max_length=MAX_MESSAGES, examples=[[{"role": "user", "content": "I moved to Porto"}]]),
    ]
    user_id: EntityId | None = Field(None, examples=["alice"])
    agent_id: EntityId | None = None
    app_id: EntityId | None = None
    run_id: EntityId | None = None
    filters: Ids | None = Field(None, description="The ids may stand here instead.")
    metadata: Annotated[dict[str, Any], Field(max_length=MAX_METADATA_KEYS)] | None = None
    infer: bool | None = Field(None, description="False stores each message verbatim. Default true.")
    expiration_date: Day | None = Field(None, description="Last day (UTC) on which list and search show the memory.")
    timestamp: Epoch | None = Field(None, description="Seconds since 1970: becomes created_at.")
    custom_instructions: str | None = None
    agent_custom_instructions: str | None = None
    custom_categories: list[dict[str, str]] | None = Field(None, description="[{name: description}, …]")
    includes: Text | None = None
    excludes: Text | None = None
    immutable: bool | None = None
    memory_type: str | None = Field(None, description="'procedural_memory' summarises steps; needs agent_id.")
    deduced_memories: list[Text] | None = None
    structured_data_schema: dict[str, Any] | None = None
    async_mode: bool | None = Field(None, description="False waits up to 30 s for the outcome. Default true.")
    output_format: str | None = None
    version: str | None = None
    source: str | None = None

    @field_validator("custom_categories", mode="before")
    @classmethod
    def _described(cls, value: Any) -> Any:
        if isinstance(value, list) and any(not isinstance(item, dict) for item in value):
            kind = next(type(item).__name__ for item in value if not isinstance(item, dict))
            raise ValueError(f'Expected a dictionary of items but got type "{kind}"')
        return value

    @field_validator("memory_type")
    @classmethod
    def _known_type(cls, value: str | None) -> str | None:
        if value not in (None, "procedural_memory"):
            raise ValueError("must be 'procedural_memory' or left out")
        return value

    def scope(self) -> Scope:
        """The ids of the request, top level or inside `filters`. Raises `scope_missing` and `add_invalid`."""
        ids: dict[str, str | None] = {}
        for field in ENTITY_FIELDS:
            own, other = getattr(self, field), getattr(self.filters, field, None)
            if own is not None and other is not None and own != other:
                raise MemlaneError(
                    "add_invalid", f"Invalid input data. {field} and filters.{field} differ.", pointer=field
                )
            ids[field] = own if own is not None else other
        scope = Scope.of(ids)
        if scope.empty:
            raise MemlaneError("scope_missing")
        if self.memory_type is not None and scope.agent_id is None:
            raise MemlaneError(
                "add_invalid", "Invalid input data. procedural_memory needs agent_id.", pointer="agent_id"
            )
        return scope

    def texts(self) -> list[str]:
        """The text of the messages, parts included."""
        found: list[str] = []
        for message in self.messages:
            content = message.content
            parts = content if isinstance(content, list) else [content]
            found += [part if isinstance(part, str) else part.text or "" for part in parts if part is not None]
        return found

    def payload(self) -> dict[str, Any]:
        """What is kept on the event: the request as sent, messages as a list."""
        return self.model_dump(exclude_unset=True, exclude={"filters", *ENTITY_FIELDS})
