"""Figures from samples: percentiles, means, and intervals for the difference of two paired arms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Latencies:
    """Percentiles of durations, in milliseconds; `count` samples."""

    count: int
    p50: float
    p90: float
    p95: float
    p99: float
    max: float
    mean: float


@dataclass(frozen=True)
class Interval:
    """An estimate and its confidence interval, in the unit of the samples."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


def percentile(samples: Sequence[float], share: float) -> float:
    """The nearest-rank percentile: the smallest sample that at least `share` (0..1] of the samples do not exceed.

    It is always a value that occurred; nan when there are no samples.
    """
    if not samples:
        return float("nan")
    ordered = sorted(samples)
    rank = int(np.ceil(share * len(ordered)))
    return float(ordered[min(max(rank, 1), len(ordered)) - 1])


def latencies(milliseconds: Sequence[float]) -> Latencies:
    """Nearest-rank percentiles of `milliseconds`; nan throughout when it is empty."""
    p50, p90, p95, p99, top = (percentile(milliseconds, share) for share in (0.50, 0.90, 0.95, 0.99, 1.0))
    return Latencies(len(milliseconds), p50, p90, p95, p99, top, mean(milliseconds))


def mean(samples: Sequence[float]) -> float:
    """The mean; nan when there are no samples."""
    return float(np.mean(samples)) if len(samples) else float("nan")


def bootstrap_mean(samples: Sequence[float], rounds: int = 2_000, level: float = 0.95, seed: int = 0) -> Interval:
    """The mean with a percentile bootstrap interval (Efron 1979): resampled with replacement, `rounds` times."""
    values = np.asarray(samples, dtype=np.float64)
    if values.size == 0:
        return Interval(float("nan"), float("nan"), float("nan"))
    generator = np.random.default_rng(seed)
    means = np.array([values[generator.integers(0, values.size, values.size)].mean() for _ in range(rounds)])
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(values.mean()), float(low), float(high))


def paired_difference(
    ours: Sequence[float], theirs: Sequence[float], rounds: int = 2_000, level: float = 0.95, seed: int = 0
) -> Interval:
    """Mean of `ours - theirs` over the same questions, with a paired bootstrap interval.

    Pairs are resampled together, so what makes a question hard for both arms cancels out. Raises ValueError
    when the two have not the same length.
    """
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} and {len(theirs)} samples are not pairs")
    return bootstrap_mean([one - other for one, other in zip(ours, theirs, strict=True)], rounds, level, seed)
