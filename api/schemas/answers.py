"""Answers as the OpenAPI document describes them; api/render.py makes them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class StructuredAttributes(BaseModel):
    year: int
    month: int
    day: int
    hour: int
    minute: int
    day_of_week: str
    week_of_year: int
    day_of_year: int
    quarter: int
    is_weekend: bool


class MemoryObject(BaseModel):
    """A memory. `session_id` is `run_id` under its other name; times are UTC."""

    id: str
    memory: str
    user_id: str | None
    agent_id: str | None
    app_id: str | None
    run_id: str | None
    session_id: str | None
    metadata: dict[str, Any] | None
    categories: list[str] | None
    created_at: str
    updated_at: str
    expiration_date: str | None
    structured_attributes: StructuredAttributes
    replaced_by: str | None
    replaced_kind: str | None
    synthesized: bool
    evidence: list[str]
    lifecycle_state: str
    immutable: bool
    hash: str
    version: int


class FoundMemory(MemoryObject):
    """A hit; with `fields` in the request only the named keys, and `id`."""

    model_config = ConfigDict(json_schema_extra=lambda schema: schema.update(required=["id"]))

    score: float
    score_breakdown: dict[str, float]


class SearchAnswer(BaseModel):
    results: list[FoundMemory]
    notice: str | None = None


class EntityObject(BaseModel):
    id: str
    name: str
    type: str
    created_at: str
    updated_at: str
    owner: str | None
    metadata: dict[str, Any] | None
    total_memories: int


class EntityList(BaseModel):
    count: int
    next: str | None
    previous: str | None
    results: list[EntityObject]
    total_users: int
    total_agents: int
    total_apps: int
    total_runs: int


class Started(BaseModel):
    """A deletion: its effect is there already, a job clears up."""

    message: str
    event_id: str


class Message(BaseModel):
    message: str
