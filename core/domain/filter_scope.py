"""The scope rule: whose rows a filter may see."""

from __future__ import annotations

from core.domain.errors import MemlaneError
from core.domain.filters import Cond, Node, Not, all_of, conjuncts, leaves
from core.domain.scope import ENTITY_FIELDS, Scope

_POSITIVE = ("eq", "in", "present")


def require_entity(node: Node) -> None:
    """At least one positive entity condition (equality, `in`, "*") that is not under NOT.

    Raises MemlaneError("filters_unscoped"). `ne` does not count: it names whose rows are *not* meant.
    """
    if not _has_positive(node):
        raise MemlaneError("filters_unscoped")


def scoped(node: Node, strict: bool) -> Node:
    """The filter with the scope rule applied.

    When the entity conditions are a conjunction of equalities and `ne` alone, every entity field that is not
    mentioned must be null, so that {"user_id": "u"} never sees rows of a session or an agent. `OR` or `NOT` around
    an entity field, `in` or "*" on one lifts the rule; `ne` does not. Without `strict` nothing is added.
    """
    if not strict:
        return node
    parts = list(conjuncts(node))
    if any(not isinstance(part, Cond) and _names_entity(part) for part in parts):
        return node
    entity = [part for part in parts if isinstance(part, Cond) and part.field in ENTITY_FIELDS]
    operators = {cond.op for cond in entity}
    if "eq" not in operators or operators & {"in", "present"}:
        return node
    mentioned = {cond.field for cond in entity}
    return all_of([*parts, *(Cond(field, "null") for field in ENTITY_FIELDS if field not in mentioned)])


def single_scope(node: Node) -> Scope | None:
    """The one scope that the filter pins, all four fields being equal to a value or null, else None."""
    found = pinned(node)
    return found[0] if found else None


def pinned(node: Node) -> tuple[Scope, Node] | None:
    """The one scope that the filter pins and what remains to be tested inside it.

    Both together select the rows that `node` selects, and a scope is one comparison of `scope_key`.
    None when a field is free, or when two conditions on one field disagree (nothing matches then).
    """
    values: dict[str, str | None] = {}
    rest: list[Node] = []
    for part in conjuncts(node):
        if not (isinstance(part, Cond) and part.field in ENTITY_FIELDS and part.op in ("eq", "null")):
            rest.append(part)
            continue
        value = part.value if part.op == "eq" else None
        if values.setdefault(part.field, value) != value:
            return None
    if len(values) < len(ENTITY_FIELDS):
        return None
    return Scope.of(values), all_of(rest)


def _names_entity(node: Node) -> bool:
    return any(leaf.field in ENTITY_FIELDS for leaf in leaves(node))


def _has_positive(node: Node) -> bool:
    if isinstance(node, Cond):
        return node.field in ENTITY_FIELDS and node.op in _POSITIVE
    if isinstance(node, Not):
        return False
    return any(_has_positive(part) for part in node.parts)
