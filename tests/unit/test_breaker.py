"""The circuit breaker, by table: what is recorded, how much time passes, what it then says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.ports.models import ModelError
from core.services.breaker import Breaker, Breakers

OK = None
DOWN = ModelError("down")
REFUSED = ModelError("refused", about="input", code="model_rejected")


class Time:
    def __init__(self) -> None:
        self.at = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def passes(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("calls", "wait"),
    [
        ([], None),
        ([DOWN] * 4, None),
        ([DOWN] * 5, 5.0),
        ([DOWN, OK] * 4, None),
        ([DOWN, OK, DOWN, OK, DOWN, OK, DOWN, DOWN], 5.0),
        ([DOWN] * 4 + [OK] * 7 + [DOWN] * 3, None),
        ([REFUSED] * 20, None),
        ([ModelError("slow down", code="rate_limited", retry_after=30)], 30.0),
        ([ModelError("slow down", code="rate_limited", retry_after=0)], None),
        ([ModelError("slow down", code="rate_limited")] * 5, 5.0),
    ],
)
def test_five_of_the_last_ten_failures_or_a_retry_after_open_it(
    calls: list[ModelError | None], wait: float | None
) -> None:
    breaker = Breaker(Time())
    for call in calls:
        breaker.record(call)
    assert breaker.allow() == wait


def opened() -> tuple[Breaker, Time]:
    time = Time()
    breaker = Breaker(time)
    for _ in range(5):
        breaker.record(DOWN)
    return breaker, time


def test_after_the_pause_one_probe_goes_and_the_others_wait() -> None:
    breaker, time = opened()
    time.passes(5)
    assert breaker.allow() is None
    assert breaker.allow() == 1.0


def test_a_good_probe_closes_it_and_forgets_the_failures() -> None:
    breaker, time = opened()
    time.passes(5)
    breaker.allow()
    breaker.record(OK)
    assert breaker.allow() is None
    breaker.record(DOWN)
    assert breaker.allow() is None
    assert not breaker.open


def test_failed_probes_double_the_pause_up_to_two_minutes() -> None:
    breaker, time = opened()
    pauses = []
    for _ in range(7):
        time.passes(breaker.allow() or 0)
        breaker.allow()
        breaker.record(DOWN)
        pauses.append(breaker.allow())
    assert pauses == [10, 20, 40, 80, 120, 120, 120]


def test_a_prober_that_never_reports_gives_way_after_its_deadline() -> None:
    breaker, time = opened()
    time.passes(5)
    assert breaker.allow(seconds=60) is None
    time.passes(59.5)
    assert breaker.allow() == 0.5
    time.passes(0.5)
    assert breaker.allow() is None


def test_a_refusal_of_the_probe_shows_that_the_provider_is_back() -> None:
    breaker, time = opened()
    time.passes(5)
    breaker.allow()
    breaker.record(REFUSED)
    assert breaker.allow() is None


def test_a_shorter_retry_after_does_not_shorten_the_pause() -> None:
    breaker, _ = opened()
    breaker.record(ModelError("slow down", code="rate_limited", retry_after=1))
    assert breaker.allow() == 5.0


def test_each_model_has_its_own() -> None:
    breakers = Breakers(Time())
    for _ in range(5):
        breakers.of("chat a").record(DOWN)
    assert breakers.of("chat a").allow() == 5.0
    assert breakers.of("chat b").allow() is None
    assert breakers.blocked() == ["chat a"]
