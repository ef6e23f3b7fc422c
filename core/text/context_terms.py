"""Terms of a conversation: a memory's own words and, fainter, those said around it, as one sparse vector."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from core.text.bm25 import K1, B, Sparse, token_id
from core.text.remembered import remembered
from core.text.tokens import tokens

# Tokens of a text of average length and its four neighbours, each weighed as `CONTEXT_WEIGHTS` says. A constant,
# so that a vector depends on its own conversation alone.
AVERAGE_WEIGHT = 130.0


def context_document(parts: Iterable[tuple[str, float]]) -> Sparse:
    """Saturated term weights over (text, weight) pairs: BM25F with one field for each neighbour.

    Robertson, Zaragoza & Taylor, "Simple BM25 extension to multiple weighted fields" (CIKM 2004): term
    frequencies are weighed and summed before they saturate, so a word said by three neighbours does not
    count three times.
    """
    counts: dict[str, float] = {}
    for text, weight in parts:
        for token, occurrences in _frequencies(text):
            counts[token] = counts.get(token, 0.0) + weight * occurrences
    norm = K1 * (1 - B + B * sum(counts.values()) / AVERAGE_WEIGHT)
    merged: dict[int, float] = {}
    for token, frequency in counts.items():
        key = token_id(token)
        merged[key] = merged.get(key, 0.0) + frequency * (K1 + 1) / (frequency + norm)
    return Sparse(list(merged), list(merged.values()))


@remembered(8192)
def _frequencies(text: str) -> tuple[tuple[str, int], ...]:
    """A turn is a neighbour of four others, and is asked for again when they arrive."""
    return tuple(Counter(tokens(text)).items())
