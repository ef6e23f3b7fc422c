"""Reranked hits: how many are read, and that those behind stay behind."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from core.domain.hit import Hit
from core.domain.ids import new_id
from core.domain.memory import Memory, MemoryState
from core.domain.scope import Scope
from core.services.rerank import MOST, reranked

NOW = datetime(2026, 5, 20, tzinfo=UTC)


class Backwards:
    """The last document is the best."""

    def __init__(self) -> None:
        self.read = 0

    def rerank(self, query: str, documents: Sequence[str]) -> list[float]:
        self.read = len(documents)
        return [(number + 1) / (10 * len(documents)) for number in range(len(documents))]


def hits(count: int) -> list[Hit]:
    made = []
    for number in range(count):
        memory = Memory(new_id(), new_id(), Scope("u"), f"fact {number}", "h", MemoryState.ACTIVE, NOW, NOW)
        score = 0.9 - number / 1000
        made.append(Hit(memory, score, {"semantic": score / 2, "bm25": score / 2}))
    return made


def test_the_first_are_read_and_the_others_stay_behind_them() -> None:
    reranker: Any = Backwards()
    runtime: Any = SimpleNamespace(
        models=SimpleNamespace(reranker=reranker), telemetry=SimpleNamespace(emit=lambda *_, **__: None)
    )
    before = hits(MOST + 5)
    after, notice = reranked(runtime, "q", before)
    assert notice is None
    assert reranker.read == MOST
    assert [hit.memory.id for hit in after[:MOST]] == [hit.memory.id for hit in reversed(before[:MOST])]
    assert [hit.memory.id for hit in after[MOST:]] == [hit.memory.id for hit in before[MOST:]]
    scores = [hit.score for hit in after]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < hit.score <= 1 and abs(sum(hit.breakdown.values()) - hit.score) < 1e-9 for hit in after)
