"""Bodies of update and batch."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from api.schemas.base import Body, Day, Epoch, Text
from core.services.update_memory import KEEP, Change


def _moment(value: str) -> str:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        raise ValueError("must be seconds since 1970 or an ISO 8601 time") from None
    return value


Moment = Epoch | Annotated[str, AfterValidator(_moment)]


class Update(Body):
    """At least one of text, metadata, timestamp, expiration_date."""

    text: Text | None = None
    data: Text | None = Field(None, description="An old name of `text`.")
    metadata: dict[str, Any] | None = Field(None, description="Replaces the whole object.")
    timestamp: Moment | None = Field(None, description="Seconds since 1970 or ISO 8601: becomes created_at.")
    expiration_date: Day | None = Field(None, description="YYYY-MM-DD; an explicit null clears it.")
    source: str | None = None

    def change(self) -> Change:
        cleared = "expiration_date" in self.model_fields_set
        expiration = date.fromisoformat(self.expiration_date) if self.expiration_date else None
        return Change(
            text=self.text if self.text is not None else self.data,
            metadata=self.metadata,
            created_at=instant_of(self.timestamp),
            expiration_date=expiration if cleared else KEEP,
        )


class Revert(Body):
    version: int = Field(ge=1, le=2**31 - 1, description="As `version` of the memory and of its history has it.")


def instant_of(value: float | str | None) -> datetime | None:
    """An aware time in UTC; naive times are read as UTC."""
    if value is None:
        return None
    if not isinstance(value, str):
        return datetime.fromtimestamp(value, UTC)
    parsed = datetime.fromisoformat(value)
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)


class BatchUpdateItem(Body):
    memory_id: str
    text: Text | None = None
    metadata: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> BatchUpdateItem:
        if self.text is None and self.metadata is None:
            raise ValueError("needs text or metadata")
        return self


class BatchUpdate(Body):
    memories: list[BatchUpdateItem]


class BatchDeleteItem(Body):
    memory_id: str


class BatchDelete(Body):
    memories: list[BatchDeleteItem]
