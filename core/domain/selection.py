"""What a bulk deletion is about: ids, wildcards, metadata, filters, as one filter tree. No scope rule applies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from core.domain.errors import MemlaneError
from core.domain.filter_parse import parse, parse_metadata
from core.domain.filter_scope import require_entity
from core.domain.filters import TRUE, Cond, Node, all_of
from core.domain.scope import ENTITY_FIELDS, Scope

WILDCARD = "*"


@dataclass(frozen=True)
class Selection:
    """`ids` maps entity fields to an id or "*"; a named id means every row that carries it, whatever else it carries.

    All conditions hold together. "*" means that the field is set; only all four of them mean the whole project.
    """

    ids: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, Any] | None = None
    filters: dict[str, Any] | None = None

    def where(self) -> Node:
        """Raises MemlaneError: `filters_unscoped` without an entity condition, `filters_invalid`."""
        if set(self.ids) == set(ENTITY_FIELDS) and set(self.ids.values()) == {WILDCARD}:
            conditions: list[Node] = [TRUE]
        else:
            conditions = [_condition(name, value) for name, value in self.ids.items()]
            if self.filters is not None:
                conditions.append(parse(self.filters))
            if not conditions:
                raise MemlaneError("filters_unscoped")
            require_entity(all_of(conditions))
        if self.metadata:
            conditions.append(parse_metadata(self.metadata))
        return all_of(conditions)

    @property
    def scope(self) -> Scope:
        """The lane of the deletion's event: the ids that are named."""
        return Scope.of({name: value for name, value in self.ids.items() if value != WILDCARD})

    @property
    def narrowed(self) -> bool:
        """True when rows of one scope may stay while others go."""
        return bool(self.metadata or self.filters)

    def as_payload(self) -> dict[str, Any]:
        pairs = {"ids": self.ids, "metadata": self.metadata, "filters": self.filters}
        return {name: value for name, value in pairs.items() if value}

    @classmethod
    def of_payload(cls, payload: dict[str, Any]) -> Selection:
        return cls(payload.get("ids") or {}, payload.get("metadata"), payload.get("filters"))


def _condition(name: str, value: str) -> Node:
    return Cond(name, "present") if value == WILDCARD else Cond(name, "eq", value)
