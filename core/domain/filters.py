"""The filter grammar (contract §5) as an abstract syntax tree.

Parsed once, then compiled to SQL (listing, deletes) and to Qdrant (search), and evaluated in Python (the oracle).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Cond:
    """One comparison. `op`: eq ne in gt gte lt lte contains icontains present null.

    `present` is "is not null" ("*" on the wire); `null` is "is null" (made by the scope rule only).
    `value` is hashable: lists are tuples, dates are aware datetimes in UTC or `date`s.
    `key` names the metadata key when `field` is "metadata".
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
