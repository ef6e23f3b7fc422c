"""What the index knows of a memory beside its vectors: keys and times, no text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

from core.domain.canonical_json import canonical_json
from core.domain.casefold import fold
from core.domain.filter_fields import TEXT_FIELDS
from core.domain.filters import Cond, Node, leaves
from core.domain.memory import Memory
from core.domain.scope import ENTITY_FIELDS

NEVER = 9_999_999  # the day a memory without expiration date expires on, far beyond date.max (day 2,932,896)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def payload_of(memory: Memory) -> dict[str, Any]:
    """The index payload of a memory.

    Times are integer microseconds and days since the epoch, UTC. Entity ids that are null are absent, and a flag
    (0 or 1) says so, because a stored value is found by an index and an absent key is not; flags are no booleans,
    because Qdrant Edge's Python binding turns the boolean of a filter into an integer, which matches none.
    `meta` holds a token for each metadata value and for each element of a list among them (`meta_token`).
    """
    created = micros(memory.created_at)
    payload: dict[str, Any] = {
        "project": str(memory.project_id),
        "scope_key": memory.scope.key,
        "state": str(memory.state),
        "created_at": created,
        "updated_at": micros(memory.updated_at),
        "timestamp": created,
        "expiration": NEVER if memory.expiration_date is None else days(memory.expiration_date),
        "categories": sorted({fold(name) for name in memory.categories or ()}),
        "has_categories": int(bool(memory.categories)),
        "meta": sorted(set(_meta_tokens(memory.metadata))),
    }
    for field in ENTITY_FIELDS:
        value = getattr(memory.scope, field)
        payload[f"has_{field}"] = int(value is not None)
        if value is not None:
            payload[field] = value
    if memory.replaced_kind is not None:
        payload["replaced_kind"] = memory.replaced_kind
    if memory.event_date is not None:
        payload["event_date"] = days(memory.event_date)
    return payload


def indexed(leaf: Cond) -> bool:
    """Whether the payload can answer a comparison: not parts of texts, of metadata strings, of category names."""
    partial = leaf.op == "contains" and leaf.field in ("metadata", "categories")
    return leaf.field not in TEXT_FIELDS and not partial


def unindexed(node: Node) -> list[Node]:
    """The comparisons whose rows PostgreSQL must name before the index can be asked."""
    return list(dict.fromkeys(leaf for leaf in leaves(node) if not indexed(leaf)))


def meta_token(key: str, value: Any) -> str:
    """32 hex digits that stand for "this metadata key has this JSON value"; equal values give equal tokens."""
    return token_of(key, canonical_json(value))


def token_of(key: str, canonical: str) -> str:
    """`meta_token` for a value that is canonical JSON already."""
    text = f"{canonical_json(key)}:{canonical}"
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def micros(moment: datetime) -> int:
    """Microseconds since the epoch, exact (a float of seconds is not)."""
    return (moment - _EPOCH) // _MICROSECOND


def days(day: date) -> int:
    """Days since the epoch."""
    return (day - _EPOCH.date()).days


def _meta_tokens(metadata: dict[str, Any]) -> Iterator[str]:
    for key, value in metadata.items():
        yield meta_token(key, value)
        if isinstance(value, list):
            yield from (meta_token(key, item) for item in value)
