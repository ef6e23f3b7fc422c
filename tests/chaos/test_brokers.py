"""Each broker goes away and comes back: adds are accepted meanwhile, and work resumes by itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from core.adapters.celery_queue import CeleryQueue
from core.settings import Settings
from deploy.cli.checks import _broker
from tests.chaos.brokers import Broker, running_broker
from tests.chaos.cluster import Cluster, Part, cluster
from tests.chaos.load import Load, running_worker
from tests.doubles.pipeline import Signals
from tests.waiting import wait_until

pytestmark = pytest.mark.chaos

BACK_SECONDS = 5 * 15  # the promise is 15 s; a loaded machine is allowed five times as much
ACCEPT_SECONDS = 1.0
LONG = pytest.mark.long
NEEDS = {"valkey": [], "redis": [pytest.mark.needs("redis")], "rabbitmq": [pytest.mark.needs("rabbitmq")]}


def each(*more: Any, marks: dict[str, list[pytest.MarkDecorator]] | None = None) -> list[Any]:
    """Every kind of broker, with more parameters; `marks` by kind."""
    return [pytest.param(kind, *more, marks=[*NEEDS[kind], *(marks or {}).get(kind, [])]) for kind in NEEDS]


@pytest.fixture(scope="module")
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    with running_broker(request.param) as running:
        yield running


@pytest.fixture(scope="module")
def stack() -> Iterator[Cluster]:
    with cluster() as running:
        running.valkey.kill()
        yield running


@pytest.fixture
def place(stack: Cluster, broker: Broker) -> Cluster:
    return replace(stack, environment={**stack.environment, "MEMLANE_BROKER_URL": broker.url})


@pytest.fixture
def load(place: Cluster) -> Iterator[Load]:
    made = Load(place)
    yield made
    made.close()


@dataclass
class Keeper:
    """Starts a worker again that has exited, as the launcher's supervisor and any container platform do."""

    worker: Part
    starts: int = 0
    _over: threading.Event = field(default_factory=threading.Event)

    def keep(self) -> None:
        while not self._over.wait(0.5):
            if not self.worker.running:
                self.worker.start()
                self.starts += 1

    @classmethod
    @contextmanager
    def over(cls, worker: Part) -> Iterator[Keeper]:
        keeper = cls(worker)
        thread = threading.Thread(target=keeper.keep)
        thread.start()
        try:
            yield keeper
        finally:
            keeper._over.set()
            thread.join()
            worker.kill()


def timed_add(load: Load, number: int) -> float:
    started = time.monotonic()
    load.add(number)
    return time.monotonic() - started


ALL_LONG = {kind: [LONG] for kind in NEEDS}


@pytest.mark.parametrize(
    ("broker", "how", "away"),
    [
        # RabbitMQ takes long to start again; the random kills of test_storm.py end Valkey too
        *each("frozen", 3, marks=ALL_LONG | {"rabbitmq": []}),
        *each("killed", 3, marks=ALL_LONG),
        *each("killed", 60, marks=ALL_LONG),
    ],
    indirect=["broker"],
    scope="module",
)
def test_wake_ups_flow_again_after_the_broker_was_away(
    place: Cluster, broker: Broker, load: Load, how: str, away: int
) -> None:
    """The sweep is off, so that nothing but wake-ups through the broker can have the work done."""
    worker = running_worker(place, f"{how}-{away}", MEMLANE_SWEEP_SECONDS="0")
    with Keeper.over(worker):
        load.add(0)
        wait_until(lambda: not load.open_events(), BACK_SECONDS, what="the first wake-up arrives")
        (broker.kill if how == "killed" else broker.freeze)()
        waits = []
        for number in range(1, 21):
            waits.append(timed_add(load, number))
            time.sleep(away / 20)
        assert load.open_events() == 20
        (broker.start if how == "killed" else broker.thaw)()
        back = time.monotonic()
        while load.open_events():  # as in life: adds go on, about one a second
            assert time.monotonic() < back + BACK_SECONDS, worker.log.read_text()[-2000:]
            waits.append(timed_add(load, len(load.accepted)))
            ends = time.monotonic() + 1
            while load.open_events() and time.monotonic() < ends:
                time.sleep(0.05)
    load.check()
    assert max(waits) < ACCEPT_SECONDS


@pytest.mark.long
@pytest.mark.parametrize("broker", each(), indirect=True, scope="module")
def test_the_sweep_does_the_work_while_the_broker_is_away(place: Cluster, broker: Broker, load: Load) -> None:
    worker = running_worker(place, "sweeping")
    with Keeper.over(worker):
        broker.kill()
        for number in range(40):
            load.add(number)
        wait_until(lambda: not load.open_events(), BACK_SECONDS, what="the sweep finds the work")
        broker.start()
    load.check()


@pytest.mark.parametrize("broker", each(), indirect=True, scope="module")
def test_a_frozen_broker_holds_up_nobody_who_wakes_workers(broker: Broker) -> None:
    signals = Signals()
    queue = CeleryQueue(broker.url, signals)
    try:
        assert queue.reachable()
        broker.freeze()
        started = time.monotonic()
        for number in range(1_000):
            queue.wake("ingest", str(number))
        assert time.monotonic() - started < ACCEPT_SECONDS
        assert not queue.reachable()
        wait_until(lambda: signals.named("wake_failed"), 20, what="the publisher gives up")
    finally:
        broker.thaw()
    queue.wake("ingest", "again")
    wait_until(queue.reachable, 20, what="the broker answers again")
    queue.close()


@pytest.mark.parametrize("broker", each(), indirect=True, scope="module")
def test_doctor_names_the_broker(broker: Broker) -> None:
    names = {"valkey": "Valkey", "redis": "Redis", "rabbitmq": "RabbitMQ"}
    result = _broker(Settings(broker_url=broker.url))
    assert result.state == "ok"
    assert result.detail.startswith(names[broker.part.name])
