"""What may be filtered and how: the fields of the wire, their kinds and operators."""

from __future__ import annotations

from core.domain.scope import ENTITY_FIELDS

TIME_FIELDS = ("created_at", "updated_at", "timestamp")
DAY_FIELDS = ("expiration_date", "event_date")  # event_date: not on the wire, asked for by services
TEXT_FIELDS = ("text", "keywords", "keywords_search")

# the order of the documented list, which the 400 for an unknown key prints
WIRE_FIELDS = (
    *ENTITY_FIELDS,
    *TIME_FIELDS,
    "expiration_date",
    "text",
    "categories",
    "metadata",
    "keywords_search",
    "memory_ids",
    "keywords",
)
LOGIC = ("AND", "OR", "NOT")
ALIASES = {"userId": "user_id", "agentId": "agent_id", "appId": "app_id", "runId": "run_id"}
WILDCARD = "*"

KINDS: dict[str, str] = {
    **dict.fromkeys(ENTITY_FIELDS, "entity"),
    **dict.fromkeys(TIME_FIELDS, "time"),
    "expiration_date": "day",
    **dict.fromkeys(TEXT_FIELDS, "text"),
    "categories": "categories",
    "memory_ids": "ids",
    "metadata": "metadata",
}
OPERATORS: dict[str, tuple[str, ...]] = {
    "entity": ("eq", "ne", "in", "exists"),
    "time": ("gt", "gte", "lt", "lte", "ne", "in", "exists"),
    "day": ("gt", "gte", "lt", "lte", "ne", "in", "exists"),
    "text": ("contains", "icontains"),
    "categories": ("in", "contains", "exists"),
    "ids": ("in",),
    "metadata": ("eq", "ne", "contains"),
}
KNOWN_OPERATORS = frozenset(op for ops in OPERATORS.values() for op in ops)
