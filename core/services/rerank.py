"""Reranking: a second opinion on the order of the hits, by a model that reads query and memory together."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.hit import Hit
from core.ports.models import ModelError
from core.services.runtime import Runtime

NOT_CONFIGURED = "rerank was asked for, but no reranker is configured; the order is the fused one."
FAILED = "The reranker did not answer; the order is the fused one."
MOST = 50  # hits that are read by the reranker; what ranks behind them stays behind them
_LEAST = 1e-6


def reranked(runtime: Runtime, query: str, hits: Sequence[Hit]) -> tuple[list[Hit], str | None]:
    """The same hits, the first `MOST` in the reranker's order and scored by it, the others behind them as they were;
    or all as they were, with a notice that says why."""
    read, rest = hits[:MOST], hits[MOST:]
    reranker = runtime.models.reranker
    if reranker is None:
        return list(hits), NOT_CONFIGURED
    try:
        relevance = reranker.rerank(query, [hit.memory.memory for hit in read])
    except ModelError as error:
        runtime.telemetry.emit("model_call", kind="rerank", outcome=error.code, texts=len(read))
        return list(hits), FAILED
    runtime.telemetry.emit("model_call", kind="rerank", outcome="done", texts=len(read))
    scored = sorted(
        (_rescored(hit, value) for hit, value in zip(read, relevance, strict=True)), key=lambda h: -h.score
    )
    return [*scored, *_behind(scored, rest)], None


def _behind(scored: Sequence[Hit], rest: Sequence[Hit]) -> list[Hit]:
    """Hits that were not read, scores lowered where they would overtake one that was."""
    if not rest:
        return []
    factor = min(1.0, scored[-1].score / rest[0].score)
    return [_rescored(hit, hit.score * factor) for hit in rest]


def _rescored(hit: Hit, relevance: float) -> Hit:
    """The breakdown keeps its proportions and goes on adding up."""
    factor = min(1.0, max(_LEAST, relevance)) / hit.score
    breakdown = {part: value * factor for part, value in hit.breakdown.items()}
    return Hit(hit.memory, sum(breakdown.values()), breakdown)
