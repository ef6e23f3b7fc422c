"""What all request models share: right types or 400, unknown keys let through."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, date, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from core.domain.scope import MAX_ENTITY_ID

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ].*)?", re.DOTALL)
FIRST_SECOND = int(datetime(1, 1, 2, tzinfo=UTC).timestamp())
LAST_SECOND = int(datetime(9999, 12, 30, tzinfo=UTC).timestamp())


class Body(BaseModel):
    """A request body. Nothing is coerced: "5" is no number and 1 is no boolean."""

    model_config = ConfigDict(extra="allow", strict=True)

    @property
    def extra(self) -> dict[str, Any]:
        """Keys that the model does not know."""
        return self.model_extra or {}


def entity_id(value: str) -> str:
    """An id as it will be stored: kept as given, refused when it could not be named again in a path or filter."""
    if not value.strip():
        raise ValueError("must not be empty")
    if len(value) > MAX_ENTITY_ID:
        raise ValueError(f"must be at most {MAX_ENTITY_ID} characters")
    if value in ("*", ".", ".."):
        raise ValueError("must not be '*', '.' or '..'")
    if any(unicodedata.category(character) == "Cc" for character in value):
        raise ValueError("must not hold control characters")
    return value


def not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty")
    return value


def day(value: str) -> str:
    """`YYYY-MM-DD`; of an ISO date and time the day is taken."""
    if not _DAY.fullmatch(value):
        raise ValueError("must be a date, YYYY-MM-DD")
    try:
        if len(value) > 10:
            datetime.fromisoformat(value)
        date.fromisoformat(value[:10])
    except ValueError:
        raise ValueError("must be a date, YYYY-MM-DD") from None
    return value[:10]


def epoch(value: int | float) -> int | float:
    """Seconds since 1970 within the years 1 to 9999."""
    if not FIRST_SECOND <= value <= LAST_SECOND:
        raise ValueError("must be seconds since 1970-01-01 (UTC)")
    return value


EntityId = Annotated[str, AfterValidator(entity_id), Field(min_length=1, max_length=MAX_ENTITY_ID)]
Text = Annotated[str, AfterValidator(not_blank), Field(min_length=1)]
Day = Annotated[str, AfterValidator(day), Field(json_schema_extra={"format": "date"})]
Epoch = Annotated[int | float, AfterValidator(epoch)]
