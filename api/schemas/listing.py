"""The body of a list."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from api.schemas.base import Body
from api.schemas.memories import Moment, instant_of
from core.domain.narrowing import Narrowing

FILTERS = "At least one entity condition; AND, OR, NOT nest."


class Listing(Body):
    """`filters` must name at least one entity; see the filter grammar in the documentation."""

    filters: dict[str, Any] | None = Field(
        None, description=FILTERS, examples=[{"user_id": "alice"}, {"AND": [{"user_id": "alice"}, {"run_id": "*"}]}]
    )
    categories: list[str] | None = Field(None, description="Any of these.")
    metadata: dict[str, Any] | None = None
    keywords: str | None = Field(None, description="Part of the text, without case.")
    start_date: str | None = Field(None, description="Created on or after; a date or an ISO time.")
    end_date: str | None = Field(None, description="Created on or before; a date covers its whole day.")
    show_expired: bool | None = None
    latest_only: bool | None = Field(None, description="Leave out what was superseded.")
    include_merged: bool | None = None
    as_of: Moment | None = Field(None, description="The list as it was at this earlier time.")
    fields: list[str] | None = Field(None, description="Keys of the results; id is always there.")
    page: int | None = None
    page_size: int | None = None

    def moment(self) -> datetime | None:
        return instant_of(self.as_of)

    def narrowing(self) -> Narrowing:
        return Narrowing(
            categories=tuple(self.categories or ()),
            metadata=self.metadata,
            keywords=self.keywords,
            start_date=self.start_date,
            end_date=self.end_date,
            show_expired=bool(self.show_expired),
            latest_only=bool(self.latest_only),
            include_merged=bool(self.include_merged),
        )
