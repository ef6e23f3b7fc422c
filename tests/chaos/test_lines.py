"""Bad lines between a worker and what it needs: slow, swallowing, resetting, or losing the answers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

from core.domain.scope import Scope
from tests.chaos.check import assert_lane_order
from tests.chaos.cluster import Cluster, Part
from tests.chaos.load import Load, running_worker
from tests.doubles.proxy import Line, Proxy

pytestmark = [pytest.mark.chaos, pytest.mark.long]
_BAD_SECONDS = 4.0  # twice the lease
_LANES = 5
PARTS = ("database", "index", "broker")
LINES = {
    "slow": Line(delay=0.1),
    "swallowing": Line(swallow=True),
    "resetting": Line(reset_every=1.0),
    "losing answers": Line(lose_answers=True),
}


@dataclass(frozen=True)
class Lines:
    """A proxy before each part, and the environment of a worker that goes through them."""

    proxies: dict[str, Proxy]
    environment: dict[str, str]


@pytest.fixture
def lines(place: Cluster) -> Iterator[Lines]:
    index, broker = (urlsplit(place.environment[f"MEMLANE_{name}_URL"]) for name in ("QDRANT", "BROKER"))
    assert index.port is not None
    targets = {
        "database": place.server.sockets / ".s.PGSQL.5432",
        "index": ("127.0.0.1", index.port),
        "broker": ("127.0.0.1", place.broker.port),
    }
    with ExitStack() as stack:
        proxies = {name: stack.enter_context(Proxy(target)) for name, target in targets.items()}
        ports = {name: proxy.port for name, proxy in proxies.items()}
        environment = {
            "MEMLANE_DATABASE_URL": f"postgresql+psycopg://memlane@127.0.0.1:{ports['database']}/chaos",
            "MEMLANE_QDRANT_URL": f"http://127.0.0.1:{ports['index']}",
            "MEMLANE_BROKER_URL": broker._replace(netloc=f":{broker.password}@127.0.0.1:{ports['broker']}").geturl(),
        }
        yield Lines(proxies, environment)


@pytest.fixture
def load(place: Cluster, lines: Lines) -> Iterator[Load]:
    made = Load(place)
    yield made
    made.close()
    place.end_parts()


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("part", PARTS)
def test_a_bad_line_delays_and_nothing_more(place: Cluster, lines: Lines, load: Load, part: str, kind: str) -> None:
    """The worker has no other that helps: what it began over the bad line it has to end itself, once it is good."""
    worker = running_worker(place, f"{part}-{kind.replace(' ', '-')}", **lines.environment)
    proxy = lines.proxies[part]
    add_for(load, 1.0)
    proxy.line = LINES[kind]
    add_for(load, _BAD_SECONDS)
    proxy.heal()
    keep_up(worker)
    load.settle()
    load.check()
    for lane in range(_LANES):
        assert_lane_order(place.database, load.pipeline.project, Scope(user_id=f"user-{lane}").key)
    assert (proxy.lost > 0) == (LINES[kind].swallow or LINES[kind].lose_answers)


def test_a_worker_cut_off_from_the_database_is_replaced_by_another(place: Cluster, lines: Lines, load: Load) -> None:
    """Its line swallows what it says, for good: it is alive, holds leases, and will never hear of it."""
    running_worker(place, "cut-off", **lines.environment)
    add_for(load, 1.0)
    lines.proxies["database"].line = Line(swallow=True)
    running_worker(place, "beside")
    add_for(load, 1.0)
    load.settle()
    load.check()


def add_for(load: Load, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        load.add(len(load.accepted), lanes=_LANES)
        time.sleep(0.03)


def keep_up(worker: Part) -> None:
    """A worker whose broker went away may end by itself; what watches over it starts it again."""
    if not worker.running:
        worker.start()
