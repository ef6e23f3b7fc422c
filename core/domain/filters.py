"""The filter grammar as an abstract syntax tree.

Parsed once (`filter_parse`), narrowed by the scope rule (`filter_scope`), then compiled to SQL (listing, deletes)
and to Qdrant (search), and evaluated in Python (`filter_eval`, the oracle of the other two).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any


@dataclass(frozen=True)
class Cond:
    """One comparison. `op`: eq ne in gt gte lt lte contains icontains present null.

    `present` is "is not null" ("*" on the wire); `null` is "is null" (made by the scope rule only).
    `value` is hashable: lists are tuples, dates are aware datetimes in UTC or `date`s. `key` names the metadata
    key when `field` is "metadata"; `value` is then canonical JSON text (`canonical_json`), because Python takes
    1, 1.0 and True for one key of a mapping and JSON does not.

    Besides the fields of the wire there are `state` and `replaced_kind` (eq, ne, in) and `event_date` (as
    expiration_date), which only services ask for.
    """

    field: str
    op: str
    value: Any = None
    key: str | None = None


@dataclass(frozen=True)
class And:
    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Or:
    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Not:
    part: Node


Node = Cond | And | Or | Not
TRUE = And(())
FALSE = Or(())


def leaves(node: Node) -> Iterator[Cond]:
    """Every comparison of the tree, left to right."""
    if isinstance(node, Cond):
        yield node
        return
    parts = (node.part,) if isinstance(node, Not) else node.parts
    for part in parts:
        yield from leaves(part)


def conjuncts(node: Node) -> Iterator[Node]:
    """The parts that must all hold: nested conjunctions flattened, `Or` and `Not` left whole."""
    if not isinstance(node, And):
        yield node
        return
    for part in node.parts:
        yield from conjuncts(part)


def all_of(parts: Iterable[Node]) -> Node:
    """The conjunction of `parts`; a single part stands for itself."""
    flat = tuple(part for whole in parts for part in conjuncts(whole))
    return flat[0] if len(flat) == 1 else And(flat)


def unexpired(today: date) -> Node:
    """Not expired on `today` (UTC): the expiration day itself still counts, and no date never expires."""
    return Not(Cond("expiration_date", "lt", today))


def in_states(*states: str) -> Node:
    return Cond("state", "in", tuple(str(state) for state in states))
