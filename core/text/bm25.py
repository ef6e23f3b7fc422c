"""BM25 as sparse vectors: term saturation here, the inverse document frequency in the index.

score(q, d) = Σ idf(t) · qtf(t) · tf(t,d)·(k1+1) / (tf(t,d) + k1·(1 − b + b·len(d)/avg_len))
(Robertson & Zaragoza, "The Probabilistic Relevance Framework", 2009, eq. 3.15). The average length is a
constant, so a memory's vector depends on nothing but its own text: other tenants' data never moves it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from core.text.tokens import tokens

K1 = 1.2
B = 0.3
AVERAGE_LENGTH = 30.0  # tokens (surfaces and stems) of a memory of some 25 words


class Sparse(NamedTuple):
    """Parallel lists: unique unsigned 32-bit ids and their weights."""

    indices: list[int]
    values: list[float]


@lru_cache(maxsize=262144)
def token_id(token: str) -> int:
    """A stable 32-bit id of a token: equal in every process and version of Python, unlike `hash`."""
    raw = token.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2s(raw, digest_size=4).digest(), "big")


def document(text: str) -> Sparse:
    """Saturated term weights of a stored text."""
    counts = Counter(tokens(text))
    norm = K1 * (1 - B + B * counts.total() / AVERAGE_LENGTH)
    return _sparse({token: tf * (K1 + 1) / (tf + norm) for token, tf in counts.items()})


def query(text: str) -> Sparse:
    """Weights of a query: how often each token is asked for."""
    return _sparse(dict(Counter(tokens(text))))


def _sparse(weights: dict[str, float] | dict[str, int]) -> Sparse:
    """Tokens to ids; the weights of two tokens with one id add up."""
    merged: dict[int, float] = {}
    for token, weight in weights.items():
        key = token_id(token)
        merged[key] = merged.get(key, 0.0) + float(weight)
    return Sparse(list(merged), list(merged.values()))
