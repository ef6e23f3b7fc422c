"""Rate limits: the buckets' arithmetic, and what a process may hold of them."""

from __future__ import annotations

import threading
from uuid import UUID

import pytest

from core.adapters.limits import LocalBuckets
from core.domain.ids import new_id
from core.ports.database import DatabaseUnavailable
from core.ports.identity import Identity
from core.ports.limits import Taken
from core.services.rate_limit import Allowance, RateLimiter, limits_of


class Clock:
    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


class Counting(LocalBuckets):
    """Counts the trips, which to Redis would be round trips."""

    trips = 0

    def take(self, key: str, per_minute: int, want: int) -> Taken:
        self.trips += 1
        return super().take(key, per_minute, want)


def identity() -> Identity:
    return Identity(new_id(), new_id(), new_id(), frozenset({"read"}))


def limiter(clock: Clock, limit: int) -> tuple[RateLimiter, Counting]:
    buckets = Counting(clock)
    return RateLimiter(buckets, lambda project: limit, clock), buckets


def ask(limits: RateLimiter, who: Identity) -> Allowance:
    return limits.spend(who) or limits.fetch(who)


@pytest.mark.parametrize("limit", [1, 7, 60, 6000])
def test_a_minute_holds_its_number_of_requests_and_no_more(limit: int) -> None:
    clock, who = Clock(), identity()
    limits, _ = limiter(clock, limit)
    assert all(ask(limits, who).retry_after is None for _ in range(limit))
    refused = ask(limits, who)
    assert refused.retry_after is not None
    assert (refused.limit, refused.remaining) == (limit, 0)
    assert 1 <= refused.retry_after <= max(1, 60 // limit + 1)
    clock.time += refused.retry_after + 0.01
    assert ask(limits, who).retry_after is None


def test_half_a_minute_gives_half_of_it_back() -> None:
    clock, who = Clock(), identity()
    limits, _ = limiter(clock, 600)
    allowed = [ask(limits, who) for _ in range(600)]
    assert [a.remaining for a in allowed] == list(range(599, -1, -1))
    assert (allowed[0].reset, allowed[-1].reset) == (1, 60)
    clock.time += 30
    assert sum(ask(limits, who).retry_after is None for _ in range(700)) == 300


def test_most_requests_cost_no_trip_and_a_refused_flood_costs_few() -> None:
    clock, who = Clock(), identity()
    limits, buckets = limiter(clock, 6000)
    for _ in range(6000):
        ask(limits, who)
    assert buckets.trips < 120
    before = buckets.trips
    for _ in range(5000):
        ask(limits, who)
    assert buckets.trips - before <= 2


def test_a_slow_client_loses_nothing_to_what_the_process_holds() -> None:
    """Two requests a second, a limit of 150 a minute, two processes in turn: never refused."""
    clock, who = Clock(), identity()
    buckets = Counting(clock)
    both = [RateLimiter(buckets, lambda project: 150, clock) for _ in range(2)]
    for number in range(600):
        assert ask(both[number % 2], who).retry_after is None
        clock.time += 0.5


def test_keys_do_not_share_and_a_changed_limit_is_in_force_within_a_second() -> None:
    clock, one, other = Clock(), identity(), identity()
    limit = 2
    limits = RateLimiter(LocalBuckets(clock), lambda project: limit, clock)
    assert [ask(limits, one).retry_after is None for _ in range(3)] == [True, True, False]
    assert ask(limits, other).retry_after is None
    limit = 0
    clock.time += 1.1
    assert ask(limits, one) == Allowance(0)


def test_requests_at_once_are_counted_once_each() -> None:
    who, granted = identity(), []
    limits, _ = limiter(Clock(), 500)

    def run() -> None:
        granted.extend(ask(limits, who).retry_after is None for _ in range(200))

    threads = [threading.Thread(target=run) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(granted) == 500


def test_what_is_fetched_for_a_request_cannot_be_spent_by_another_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, who = Clock(), identity()
    limits, buckets = limiter(clock, 1)
    others: list[Allowance | None] = []

    class Door:
        """The limiter's lock; whenever it opens after the trip to the bucket, another request of the key comes."""

        def __init__(self) -> None:
            self.lock = threading.Lock()

        def __enter__(self) -> None:
            self.lock.acquire()

        def __exit__(self, *_: object) -> None:
            self.lock.release()
            if buckets.trips and not others:
                others.append(None)
                others.append(limits.spend(who))

    monkeypatch.setattr(limits, "_lock", Door())
    assert limits.fetch(who).retry_after is None
    assert others == [None, None]


def test_a_projects_own_limit_wins_and_an_absent_database_lifts_nothing() -> None:
    def away(project: UUID) -> object:
        raise DatabaseUnavailable

    assert limits_of(lambda project: 5, 10)(new_id()) == 5
    assert limits_of(lambda project: 0, 10)(new_id()) == 0
    assert limits_of(lambda project: None, 10)(new_id()) == 10
    assert limits_of(away, 10)(new_id()) == 10
