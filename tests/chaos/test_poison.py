"""One event that kills every worker that touches it, among many that do not; and a death during a model call."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from core.domain.scope import Scope
from core.services.accept import Request, accept
from tests.chaos.check import assert_lane_order
from tests.chaos.cluster import Cluster, Part, cluster
from tests.chaos.load import Load
from tests.doubles.model_server import Reply, memories
from tests.doubles.poison import HANGS, POISON
from tests.waiting import wait_until

pytestmark = pytest.mark.chaos

MAX_CRASHES = 3
LEASE_SECONDS = 1.5


@pytest.fixture(scope="module")
def place() -> Iterator[Cluster]:
    settings = {"MEMLANE_MODELS": "tests.doubles.poison:models", "MEMLANE_MAX_CRASHES": str(MAX_CRASHES)}
    with cluster(MEMLANE_LEASE_SECONDS=str(LEASE_SECONDS), MEMLANE_SWEEP_SECONDS="0.2", **settings) as running:
        yield running


@pytest.fixture
def load(place: Cluster) -> Iterator[Load]:
    made = Load(place)
    yield made
    made.close()


@pytest.mark.parametrize("good", [40, pytest.param(300, marks=pytest.mark.long)])
def test_poison_ends_as_worker_lost_and_takes_nobody_along(place: Cluster, load: Load, good: int) -> None:
    for number in range(good // 2):
        load.add(number, lanes=10)
    payload = {"messages": [{"role": "user", "content": f"This is {POISON}"}], "infer": False}
    poison = accept(load.runtime, Request(load.pipeline.project, Scope(user_id="user-3"), payload)).event_id
    for number in range(good // 2, good):
        load.add(number, lanes=10)
    worker = place.worker_part("taster")
    starts = _restarted_until_done(worker, load)
    error = load.pipeline.event(poison).error
    assert (load.pipeline.event(poison).state, error["code"]) == ("failed", "worker_lost")
    assert 2 <= starts <= 1 + MAX_CRASHES
    load.check()
    for lane in range(10):
        assert_lane_order(place.database, load.pipeline.project, Scope(user_id=f"user-{lane}").key)
    worker.kill()


@pytest.mark.long
def test_a_worker_whose_call_never_comes_back_ends_and_the_next_does_the_work(place: Cluster, load: Load) -> None:
    """In-process models have ten times the time-out: two seconds here, and one more until the watchdog bites."""
    quick = {"MEMLANE_EMBEDDER_TIMEOUT": "0.2", "MEMLANE_CALL_GRACE_SECONDS": "1"}
    worker = place.worker_part("hanging", **quick, **{HANGS: "1"})
    worker.start()
    load.add(1)
    payload = {"messages": [{"role": "user", "content": f"This {HANGS}"}], "infer": False}
    event = accept(load.runtime, Request(load.pipeline.project, Scope(user_id="stuck"), payload)).event_id
    wait_until(lambda: not worker.running, 90, what="the watchdog ends the worker")
    assert "embed_passages is" in worker.log.read_text()
    heir = place.worker("heir", **quick)
    load.settle()
    assert load.pipeline.event(event).state == "projected"
    load.check()
    heir.kill()


def _restarted_until_done(worker: Part, load: Load) -> int:
    """Start the worker again whenever it has died, as a supervisor does; returns how often it was started."""
    starts = 0
    while load.open_events():
        worker.start()
        starts += 1
        assert starts < 20, "the worker dies for ever"
        wait_until(lambda: not worker.running or not load.open_events(), 120, what="the worker dies or is done")
    return starts


def test_c15_an_event_whose_worker_dies_during_the_model_call_ends_once_with_the_next(
    place: Cluster, load: Load
) -> None:
    """Within the lease and the time of the model, as far as a busy machine lets it: five times as much."""
    model_seconds = 2.0
    said = memories("User keeps bees in Lund")
    place.models.chat.default = Reply(said.status, said.body, delay=model_seconds)
    worker = place.worker_part("asking", MEMLANE_LLM_BASE_URL=place.models.url)
    asked = len(place.models.chat.requests)
    payload = {"messages": [{"role": "user", "content": "I keep bees in Lund"}]}
    worker.start()
    event = accept(load.runtime, Request(load.pipeline.project, Scope(user_id="bee"), payload)).event_id
    wait_until(lambda: len(place.models.chat.requests) > asked, 60, what="the model is asked")
    worker.kill()
    worker.start()
    killed = time.monotonic()
    wait_until(lambda: load.pipeline.event(event).state == "projected", 120, what="the event ends")
    took = time.monotonic() - killed
    worker.kill()
    assert [memory.memory for memory in load.pipeline.memories()] == ["User keeps bees in Lund"]
    assert len(place.models.chat.requests) == asked + 2
    assert took < 5 * (LEASE_SECONDS + model_seconds)
