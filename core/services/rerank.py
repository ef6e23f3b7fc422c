"""Reranking: a second opinion on the order of the hits, by a model that reads query and memory together."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.hit import Hit
from core.ports.models import ModelError
from core.services.runtime import Runtime

NOT_CONFIGURED = "rerank was asked for, but no reranker is configured; the order is the fused one."
FAILED = "The reranker did not answer; the order is the fused one."
_LEAST = 1e-6


def reranked(runtime: Runtime, query: str, hits: Sequence[Hit]) -> tuple[list[Hit], str | None]:
    """The same hits in the reranker's order, scored by it; or as they were, with a notice that says why."""
    reranker = runtime.models.reranker
    if reranker is None:
        return list(hits), NOT_CONFIGURED
    try:
        relevance = reranker.rerank(query, [hit.memory.memory for hit in hits])
    except ModelError as error:
        runtime.telemetry.emit("model_call", kind="rerank", outcome=error.code, texts=len(hits))
        return list(hits), FAILED
    runtime.telemetry.emit("model_call", kind="rerank", outcome="done", texts=len(hits))
    scored = [_rescored(hit, value) for hit, value in zip(hits, relevance, strict=True)]
    return sorted(scored, key=lambda hit: -hit.score), None


def _rescored(hit: Hit, relevance: float) -> Hit:
    """The breakdown keeps its proportions and goes on adding up."""
    factor = min(1.0, max(_LEAST, relevance)) / hit.score
    breakdown = {part: value * factor for part, value in hit.breakdown.items()}
    return Hit(hit.memory, sum(breakdown.values()), breakdown)
