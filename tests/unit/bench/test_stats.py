"""The figures of benchmarks mean what their names say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.bench.stats import bootstrap_mean, latencies, paired_difference, percentile

SAMPLES = st.lists(st.floats(0, 1e6), min_size=1, max_size=50)


def test_percentiles_are_the_nearest_rank() -> None:
    samples = [float(number) for number in range(1, 101)]
    assert [percentile(samples, share) for share in (0.01, 0.50, 0.95, 0.99, 1.0)] == [1, 50, 95, 99, 100]
    assert percentile([15, 20, 35, 40, 50], 0.40) == 20


@given(SAMPLES, st.floats(0.01, 1.0))
def test_a_percentile_occurred_and_covers_its_share(samples: list[float], share: float) -> None:
    value = percentile(samples, share)
    assert value in samples
    assert sum(sample <= value for sample in samples) >= share * len(samples) - 1e-9


def test_no_samples_give_no_figures() -> None:
    told = latencies([])
    assert told.count == 0
    assert math.isnan(told.p50)
    assert math.isnan(told.mean)


def test_latencies_are_in_order() -> None:
    told = latencies([5.0, 1.0, 3.0, 2.0, 4.0])
    assert (told.p50, told.max, told.mean) == (3.0, 5.0, 3.0)
    assert told.p50 <= told.p90 <= told.p95 <= told.p99 <= told.max


def test_the_interval_of_a_mean_narrows_with_more_samples() -> None:
    generator = np.random.default_rng(1)
    few, many = generator.normal(0.5, 0.2, 30), generator.normal(0.5, 0.2, 3_000)
    wide, narrow = bootstrap_mean(list(few)), bootstrap_mean(list(many))
    assert narrow.low < 0.5 < narrow.high
    assert narrow.high - narrow.low < (wide.high - wide.low) / 3
    # the normal theory's interval is ± 1.96 s/√n
    assert narrow.high - narrow.low == pytest.approx(2 * 1.96 * 0.2 / math.sqrt(3_000), rel=0.15)


def test_pairing_sees_a_small_gain_that_hard_questions_would_hide() -> None:
    generator = np.random.default_rng(2)
    hardness = generator.uniform(0, 1, 200)
    ours, theirs = hardness + 0.02, hardness + generator.normal(0, 0.01, 200)
    gain = paired_difference(list(ours), list(theirs))
    assert gain.low > 0
    assert bootstrap_mean(list(ours)).low < bootstrap_mean(list(theirs)).high


def test_equal_arms_have_zero_in_their_interval() -> None:
    arm = [0.0, 1.0, 0.5, 1.0]
    assert paired_difference(arm, arm) == paired_difference(arm, arm)
    assert (paired_difference(arm, arm).low, paired_difference(arm, arm).high) == (0.0, 0.0)


def test_arms_of_different_length_are_no_pairs() -> None:
    with pytest.raises(ValueError, match="are not pairs"):
        paired_difference([1.0], [1.0, 2.0])
