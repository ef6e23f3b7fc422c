"""The project object and what PATCH may change."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, field_validator

from api.schemas.base import Body, Text
from core.domain.retention import MOST_DAYS, OF_PROJECTS
from core.services.project_settings import ProjectChange

MAX_INSTRUCTIONS = 20_000
MAX_CATEGORIES = 200
Instructions = Annotated[str, Field(max_length=MAX_INSTRUCTIONS)] | list[str]
_SETTINGS = (
    "custom_instructions",
    "agent_custom_instructions",
    "custom_categories",
    "multilingual",
    "memory_depth",
    "usecase_setting",
    "decay",
    "enable_graph",
    "version",
    "strict_scoping",
    "synthesis",
    "retention",
    "rate_limit_per_minute",
)


class ProjectPatch(Body):
    """Only the keys that are given change; null or "" clears an instruction, [] resets the categories."""

    name: Text | None = Field(None, max_length=256)
    description: str | None = Field(None, max_length=4_000)
    custom_instructions: Instructions | None = None
    agent_custom_instructions: Instructions | None = None
    custom_categories: Annotated[list[str | dict[str, str]], Field(max_length=MAX_CATEGORIES)] | None = None
    multilingual: bool | None = None
    memory_depth: str | None = None
    usecase_setting: str | None = None
    decay: bool | None = None
    enable_graph: bool | None = None
    version: str | None = None
    strict_scoping: bool | None = Field(
        None, description="Entity fields that a filter does not mention must be null. Null: the server's default."
    )
    synthesis: bool | None = Field(None, description="Look for patterns over users' memories, now and then.")

    retention: dict[str, Annotated[int, Field(ge=0, le=MOST_DAYS)]] | None = Field(
        None, description=f"Days that ended things are kept, by kind: {', '.join(OF_PROJECTS)}. Null: the server's."
    )

    rate_limit_per_minute: Annotated[int, Field(ge=0, le=10_000_000)] | None = Field(
        None, description="Requests a minute of each key; 0: unlimited. Null: the server's."
    )

    @field_validator("retention")
    @classmethod
    def _known_kinds(cls, value: dict[str, int] | None) -> dict[str, int] | None:
        unknown = sorted(set(value or ()) - set(OF_PROJECTS))
        if unknown:
            raise ValueError(f"names {', '.join(unknown)[:200]}; known: {', '.join(OF_PROJECTS)}")
        return value

    @field_validator("custom_instructions", "agent_custom_instructions")
    @classmethod
    def _joined(cls, value: Any) -> Any:
        """Old documentation shows a list of lines; "" clears."""
        text = "\n".join(value) if isinstance(value, list) else value
        return text or None

    def change(self) -> ProjectChange:
        given = {name: getattr(self, name) for name in _SETTINGS if name in self.model_fields_set}
        return ProjectChange(self.name, self.description, given)
