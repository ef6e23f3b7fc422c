"""Everything of a chaos run: the stack with all its processes, two projects, their clients, a webhook receiver."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import httpx
from cryptography.fernet import Fernet
from sqlalchemy import text

from core.adapters.qdrant import QdrantIndex
from core.domain.ids import project_wire_id
from core.ports.database import DatabaseUnavailable
from core.services.issue_key import IssuedKey, issue_key
from deploy.local.ports import free_port
from tests.chaos.clients import Client, lanes
from tests.chaos.cluster import Cluster, Part, cluster, wait_until
from tests.chaos.keeper import Keeper, Kept
from tests.chaos.storm import Storm
from tests.chaos.takeovers import note_takeovers
from tests.chaos.told import Diary
from tests.doubles.counting_receiver import CountingReceiver
from tests.doubles.model_server import ModelServer, Reply, Request, memories

_TURN = re.compile(r'^\{"turn".*\}$', re.MULTILINE)
_THINKING = (0.01, 0.12)  # seconds that the chat model takes
_REMEMBERED = 100  # requests that the models' double keeps
_SETTLE_SECONDS = 120.0  # in which at least one event has to end, when no client sends any more
_OPEN = text("SELECT count(*) FROM events WHERE state NOT IN ('projected', 'failed')")
_UNSENT = text("SELECT count(*) FROM deliveries WHERE state = 'waiting'")
_UNSHOWN = text("SELECT count(*) FROM projections")
SLOTS = 12  # of each worker: one for every lane, so that no lane waits for a slot
SETTINGS = {
    "MEMLANE_WEBHOOK_ALLOW_PRIVATE": "loopback",
    "MEMLANE_WEBHOOK_RETRY_SCHEDULE": ",".join(["0", *["1"] * 19]),
    # A run kills hundreds of times a minute what works: that is no sign of an input that kills its worker.
    "MEMLANE_MAX_CRASHES": "1000",
    "MEMLANE_RATE_LIMIT_PER_MINUTE": "0",
    "MEMLANE_LLM_MODEL": "double",
    "MEMLANE_LLM_API_KEY": "double",
}


@dataclass
class World:
    place: Cluster
    keeper: Keeper
    clients: list[Client]
    diary: Diary
    storm: Storm
    receiver: CountingReceiver
    index: QdrantIndex

    def stop_clients(self) -> None:
        for client in self.clients:
            client.stopping.set()
        for client in self.clients:
            client.join(60)
            assert not client.is_alive(), f"{client.name} does not stop"
            if client.failure is not None:
                raise client.failure
        if self.keeper.failure is not None:
            raise self.keeper.failure

    def settle(self) -> None:
        """Wait until all is ready and every event, projection and delivery is done, as long as there is progress."""
        wait_until(self.keeper.all_ready, "every process is ready", 120)
        for what, query in (("events", _OPEN), ("projections", _UNSHOWN), ("deliveries", _UNSENT)):
            left = self.count(query)
            while left:
                wait_until(partial(self._fewer, query, left), f"{left} {what} open", _SETTLE_SECONDS)
                left = self.count(query)

    def _fewer(self, query: object, than: int) -> bool:
        time.sleep(0.1)
        return self.count(query) < than

    def count(self, query: object) -> int:
        return int(str(self.place.scalar(query)))  # type: ignore[arg-type]


@contextmanager
def world(seed: int, say: object) -> Iterator[World]:
    """Up and under load when the block begins."""
    settings = SETTINGS | {"MEMLANE_SECRET_KEY": Fernet.generate_key().decode()}
    with cluster(**settings) as place, CountingReceiver() as receiver:
        note_takeovers(place.url)
        place.models.chat.default = _thinking(seed, place.models)
        place.environment["MEMLANE_LLM_BASE_URL"] = place.models.url
        address = f"http://127.0.0.1:{(port := free_port())}"
        keeper = Keeper(_kept(place, port, address))
        keeper.start()
        index = QdrantIndex(place.environment["MEMLANE_QDRANT_URL"], place.environment["MEMLANE_QDRANT_API_KEY"])
        try:
            wait_until(keeper.all_ready, "every process is ready", 120)
            storm = Storm(keeper, place.database, seed, say)  # type: ignore[arg-type]
            diary = Diary()
            projects = {name: issue_key(place.database, name) for name in ("told", "quiet")}
            _subscribe(address, projects["told"], receiver)
            clients = [
                Client(lane, address, issued.key, diary, seed)
                for name, issued in projects.items()
                for lane in lanes(name, erases=name == "quiet")
            ]
            made = World(place, keeper, clients, diary, storm, receiver, index)
            for client in clients:
                client.open_events = _Gauge(made)
                client.start()
            yield made
        finally:
            keeper.stop()
            index.close()


class _Gauge:
    """How many events are open, looked up at most every third of a second by each client."""

    def __init__(self, made: World) -> None:
        self._made = made
        self._at = 0.0
        self._open = 0

    def __call__(self) -> int:
        if time.monotonic() - self._at > 0.3:
            self._at = time.monotonic()
            try:
                self._open = self._made.count(_OPEN)
            except DatabaseUnavailable:
                self._open = 0  # the clients' requests will show it
        return self._open


def _kept(place: Cluster, port: int, address: str) -> list[Kept]:
    def memlane(name: str, *arguments: str, **environment: str) -> Part:
        return place.part(name, ["deploy.cli.main", *arguments], **environment)

    def worker(name: str, queues: str) -> Part:
        return memlane(name, "worker", "--queues", queues, "--name", name, "--concurrency", str(SLOTS))

    def beats(part: Part) -> bool:
        try:
            return place.beats(part)
        except DatabaseUnavailable:
            return False

    api = memlane("api", "api", "--port", str(port))
    upkeep = worker("upkeep", "webhooks,upkeep")
    workers = [worker(name, "ingest") for name in ("w1", "w2")]
    beat = memlane("beat", "beat", "--schedule", str(place.home / "beat-schedule"))
    started = time.monotonic
    kept = [
        Kept("PostgreSQL", place.postgres, lambda: place.server.ready(place.postgres.pid)),
        Kept("Valkey", place.valkey, place.broker.ready),
        Kept("index endpoint", place.endpoint, lambda: _answers(place.environment["MEMLANE_QDRANT_URL"])),
        Kept("API", api, lambda: _answers(f"{address}/healthz")),
        Kept("webhooks worker", upkeep, lambda: beats(upkeep)),
        *(Kept("ingest worker", part, partial(beats, part)) for part in workers),
    ]
    scheduler = Kept("beat", beat, lambda: started() > scheduler.started + 2)  # it answers nobody
    return [*kept, scheduler]


def _answers(url: str) -> bool:
    """Any answer will do: the endpoint refuses those without a key."""
    try:
        return httpx.get(url, timeout=2, trust_env=False).status_code < 500
    except httpx.TransportError:
        return False


def _subscribe(address: str, project: IssuedKey, receiver: CountingReceiver) -> None:
    body = {"name": "chaos", "url": receiver.url, "event_types": ["memory_add", "event_succeeded", "event_failed"]}
    made = httpx.post(
        f"{address}/api/v1/webhooks/projects/{project_wire_id(project.project_id)}/",
        json=body,
        headers={"Authorization": f"Token {project.key}"},
        timeout=20,
        trust_env=False,
    )
    assert made.status_code == 201, made.text


def _thinking(seed: int, models: ModelServer) -> Callable[[Request], Reply]:
    """A chat model that takes its time and finds one fact in each new turn, in its own words."""
    chance = random.Random(f"{seed} model")

    def answer(request: Request) -> Reply:
        for route in (models.chat, models.embeddings):
            del route.requests[:-_REMEMBERED]
        turns = [json.loads(line) for line in _TURN.findall(str(request.body["messages"][-1]["content"]))]
        said = memories(*({"text": turn["text"], "attributed_to": turn["role"]} for turn in turns))
        return Reply(said.status, said.body, delay=chance.uniform(*_THINKING))

    return answer
