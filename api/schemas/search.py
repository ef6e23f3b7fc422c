"""Bodies of the three searches."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from api.schemas.base import Body, Text
from api.schemas.listing import FILTERS
from api.schemas.memories import Moment, instant_of
from core.domain.errors import MemlaneError
from core.domain.narrowing import Narrowing
from core.domain.scope import ENTITY_FIELDS

MAX_QUERY = 20_000
MAX_TOP_K = 1_000
CAMEL = ("userId", "agentId", "appId", "runId")


def _trimmed(value: str) -> str:
    return value.strip()


Query = Annotated[Text, Field(max_length=MAX_QUERY), AfterValidator(_trimmed)]
TopK = Annotated[int, Field(ge=1, le=MAX_TOP_K)]
Threshold = Annotated[float, Field(ge=0, le=1)]


class SearchBase(Body):
    """What all versions share; `top_k` and `threshold` have the defaults of each version."""

    query: Query
    filters: dict[str, Any] | None = Field(None, description=FILTERS, examples=[{"user_id": "alice"}])
    top_k: TopK | None = None
    threshold: Threshold | None = None
    rerank: bool | None = None
    keyword_search: bool | None = Field(None, description="Rank by words alone.")
    fields: list[str] | None = Field(None, description="Keys of the results; id is always there.")
    categories: list[str] | None = Field(None, description="Any of these.")
    metadata: dict[str, Any] | None = None
    show_expired: bool | None = None
    latest_only: bool | None = Field(None, description="Leave out what was superseded.")
    include_merged: bool | None = None
    reference_date: Moment | None = Field(None, description="The now of 'last week' in the query.")
    as_of: Moment | None = Field(None, description="What held at this earlier time, in the words of then.")
    output_format: str | None = None

    def narrowing(self) -> Narrowing:
        return Narrowing(
            categories=tuple(self.categories or ()),
            metadata=self.metadata,
            show_expired=bool(self.show_expired),
            latest_only=bool(self.latest_only),
            include_merged=bool(self.include_merged),
        )

    def moment(self) -> datetime | None:
        return instant_of(self.as_of)

    def reference(self) -> datetime | None:
        found = instant_of(self.reference_date)
        return found.astimezone(UTC) if found else None


class Search(SearchBase):
    """A query in words and the scope to search in."""

    top_k: TopK | None = Field(None, description="1 to 1000. Default 20.")
    threshold: Threshold | None = Field(None, description="Least score; 0 turns it off. Default 0.1.")

    def require_ids_in_filters(self) -> None:
        """Raises MemlaneError("scope_top_level")."""
        for name in (*ENTITY_FIELDS, *CAMEL):
            if name in self.extra:
                text = f"'{name}' belongs inside 'filters', as in {{\"filters\": {{\"{name}\": …}}}}."
                raise MemlaneError("scope_top_level", text, pointer=name)


class SearchV1(SearchBase):
    """The oldest search: ids at the top level."""

    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None

    def scope_filters(self) -> dict[str, Any]:
        """The ids as filters, with those of `filters`. Raises MemlaneError("filters_unscoped_v1_search")."""
        ids = {name: value for name in ENTITY_FIELDS if (value := getattr(self, name))}
        if not ids and not self.filters:
            raise MemlaneError("filters_unscoped_v1_search")
        parts = [part for part in (ids, self.filters) if part]
        return parts[0] if len(parts) == 1 else {"AND": parts}
