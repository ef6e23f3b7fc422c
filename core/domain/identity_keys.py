"""Keys of metadata that would pose as identity: they are taken out and reported, never stored."""

from __future__ import annotations

from typing import Any

from core.domain.scope import ENTITY_FIELDS

RESERVED = frozenset({*ENTITY_FIELDS, "org_id", "project_id"})


def without_identity(metadata: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The metadata that may be stored, and the keys that were taken out, in order."""
    kept = {key: value for key, value in metadata.items() if key not in RESERVED}
    return kept, [key for key in metadata if key in RESERVED]
