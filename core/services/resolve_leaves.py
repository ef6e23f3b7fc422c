"""The parts of a filter that only PostgreSQL can answer, made into ids before the index is asked."""

from __future__ import annotations

from uuid import UUID

from core.domain.filters import Node, all_of, conjuncts
from core.domain.payload import unindexed
from core.ports.database import Transaction


def resolve_leaves(tx: Transaction, project_id: UUID, where: Node) -> dict[Node, list[UUID]]:
    """For `IndexQuery.ids`: each comparison the index cannot answer → the ids of its rows.

    Only rows that pass the indexed conjuncts of the filter are looked for: the index tests those conjuncts
    itself, so that rows outside them never decide anything, and a keyword search of one user stays small.
    """
    leaves = unindexed(where)
    if not leaves:
        return {}
    around = [part for part in conjuncts(where) if not unindexed(part)]
    return {leaf: tx.memory_reads.ids(project_id, all_of([*around, leaf])) for leaf in leaves}
