"""Scores of rerankers on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence


def unit(scores: Sequence[float]) -> list[float]:
    """Probabilities stay as they are; raw logits of a cross-encoder go through the logistic function."""
    if all(0 <= score <= 1 for score in scores):
        return list(scores)
    return [1 / (1 + math.exp(-max(-60.0, min(60.0, score)))) for score in scores]
