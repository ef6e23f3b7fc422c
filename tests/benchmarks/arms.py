"""Rankings to hold ours against, each made of the same lists of the same index: only the order differs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from statistics import fmean, pstdev
from uuid import UUID

Scores = Mapping[UUID, float]
Lists = Mapping[str, Scores]  # "dense" | "bm25" | "entity" → memory → raw score, the whole scope
Arm = Callable[[Lists], list[UUID]]

_GATE = 60  # vector hits that the gate lets through
_BM25_MIDDLE, _BM25_SLOPE = 8.0, 0.5
_ENTITY_FULL, _ENTITY_WEIGHT = 6.0, 0.5


def dense_only(lists: Lists) -> list[UUID]:
    return _ordered(lists["dense"])


def bm25_only(lists: Lists) -> list[UUID]:
    """What no word finds is not there at all, as in a keyword search."""
    return _ordered(lists["bm25"])


def additive_gate(lists: Lists) -> list[UUID]:
    """How today's peers rank: only vector hits are candidates; words (through a logistic curve) and names are added
    to their cosine. A memory that the vector missed cannot come back."""
    words, names = lists["bm25"], lists["entity"]

    def boosted(id_: UUID, cosine: float) -> float:
        word = 1 / (1 + math.exp(-_BM25_SLOPE * (words[id_] - _BM25_MIDDLE))) if id_ in words else 0.0
        name = min(1.0, names.get(id_, 0.0) / _ENTITY_FULL)
        return cosine + word + _ENTITY_WEIGHT * name

    hits = dense_only(lists)[:_GATE]
    return _ordered({id_: boosted(id_, lists["dense"][id_]) for id_ in hits})


def z_score_sum(lists: Lists) -> list[UUID]:
    """Cosine and BM25, each with mean 0 and deviation 1 over the scope, added."""
    dense = lists["dense"]
    words = {id_: lists["bm25"].get(id_, 0.0) for id_ in dense}
    by_meaning, by_word = _standard(dense), _standard(words)
    return _ordered({id_: by_meaning[id_] + by_word[id_] for id_ in dense})


ARMS: dict[str, Arm] = {
    "dense only": dense_only,
    "BM25 only": bm25_only,
    "additive gate": additive_gate,
    "z-score sum": z_score_sum,
}


def _standard(scores: Scores) -> dict[UUID, float]:
    middle, spread = fmean(scores.values()), pstdev(scores.values())
    return {id_: (score - middle) / spread if spread else 0.0 for id_, score in scores.items()}


def _ordered(scores: Scores) -> list[UUID]:
    return sorted(scores, key=lambda id_: (-scores[id_], id_))
