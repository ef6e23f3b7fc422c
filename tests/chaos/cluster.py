"""Real processes on one machine, each of which a test may kill, freeze and start again."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree

from sqlalchemy import TextClause

from core.adapters.sql.database import PoolOptions, SqlDatabase
from deploy.local.ports import free_port
from deploy.local.postgres import Postgres
from deploy.local.postgres_server import running_postgres
from deploy.local.valkey import Valkey
from deploy.migrations.run import upgrade
from tests.conftest import short_home
from tests.contracts.index_places import quick_folder
from tests.doubles.model_server import ModelServer

START_SECONDS = 60.0
LEASE_SECONDS = 2.0


def wait_until(fact: Callable[[], bool], what: str, seconds: float = START_SECONDS) -> float:
    """Wait for a fact; returns how long it took. Fails with `what` after `seconds`."""
    started = time.monotonic()
    while not fact():
        if time.monotonic() - started > seconds:
            raise AssertionError(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.02)
    return time.monotonic() - started


@dataclass
class Part:
    """One process that can be ended and started again with the same command."""

    name: str
    command: list[str]
    environment: Mapping[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    kills: int = 0

    def start(self, **more: str) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, env={**self.environment, **more}, stdout=log, stderr=log, start_new_session=True
            )

    def send(self, number: signal.Signals) -> None:
        if self.process is not None:
            os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """SIGKILL to the process and its children; returns when it is gone."""
        if self.process is not None and self.process.poll() is None:
            self.send(signal.SIGKILL)
            self.kills += 1
        self.wait()

    def wait(self, seconds: float = START_SECONDS) -> int:
        return self.process.wait(seconds) if self.process is not None else 0

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None


@dataclass
class Cluster:
    """PostgreSQL, Valkey, the index endpoint and model doubles; workers and APIs are started by the test."""

    home: Path
    url: str
    environment: dict[str, str]
    database: SqlDatabase
    models: ModelServer
    valkey: Part
    endpoint: Part
    parts: list[Part] = field(default_factory=list)

    def part(self, name: str, command: list[str], **environment: str) -> Part:
        made = Part(name, command, {**self.environment, **environment}, self.home / f"{name}.log")
        self.parts.append(made)
        return made

    def worker(self, name: str = "w1", **environment: str) -> Part:
        made = self.worker_part(name, **environment)
        made.start()
        return made

    def worker_part(self, name: str, **environment: str) -> Part:
        """A worker that is not started yet."""
        options = ["--pool", "threads", "--concurrency", "4", "--queues", "ingest", "--hostname", f"{name}@%h"]
        quiet = ["--without-gossip", "--without-mingle", "--loglevel", "warning"]
        command = [sys.executable, "-m", "celery", "-A", "workers.app", "worker", *options, *quiet]
        return self.part(name, command, **environment)

    def api(self, port: int) -> Part:
        made = self.part("api", [sys.executable, "-m", "deploy.cli.main", "api", "--port", str(port)])
        made.start()
        return made

    def beats(self, part: Part) -> bool:
        """Whether this very process has sent a heartbeat in the last seconds."""
        assert part.process is not None
        with self.database.operations() as tx:
            return part.process.pid in [row.info["pid"] for row in tx.ops.alive(3.0)]

    def scalar(self, query: TextClause) -> object:
        with self.database.operations() as tx:
            return tx.connection.execute(query).scalar_one()

    def stop(self) -> None:
        for part in [*self.parts, self.valkey, self.endpoint]:
            if part.running:
                part.send(signal.SIGCONT)
                part.send(signal.SIGKILL)
                part.wait()


@contextmanager
def cluster(**settings: str) -> Iterator[Cluster]:
    """A fresh cluster in a temporary home; everything is gone when the block ends."""
    home = short_home()
    try:
        with (
            running_postgres(home, durable=False) as postgres,
            ModelServer(dims=16) as models,
            quick_folder() as index,
        ):
            running = _start(home, index, postgres, models, settings)
            try:
                yield running
            finally:
                running.stop()
                running.database.close()
    finally:
        rmtree(home, ignore_errors=True)


def _start(home: Path, index: Path, postgres: Postgres, models: ModelServer, settings: Mapping[str, str]) -> Cluster:
    url = postgres.create_database("chaos")
    upgrade(url)
    valkey = Valkey(home, free_port(), secrets.token_hex(8))
    valkey.prepare()
    port, key = free_port(), secrets.token_hex(8)
    environment = {
        **os.environ,
        "MEMLANE_DATABASE_URL": url,
        "MEMLANE_BROKER_URL": valkey.url,
        "MEMLANE_QDRANT_URL": f"http://127.0.0.1:{port}",
        "MEMLANE_QDRANT_API_KEY": key,
        "MEMLANE_EMBEDDER_BASE_URL": models.url,
        "MEMLANE_EMBEDDER_MODEL": "double",
        "MEMLANE_LEASE_SECONDS": str(LEASE_SECONDS),
        "MEMLANE_SWEEP_SECONDS": "0.5",
        **settings,
    }
    broker = Part("valkey", valkey.command(), environment, home / "valkey.log")
    index_command = [
        sys.executable,
        "-m",
        "deploy.local.endpoint",
        "--path",
        str(index / "data"),
        "--port",
        str(port),
    ]
    endpoint = Part("endpoint", index_command, environment, home / "endpoint.log")
    broker.start()
    endpoint.start()
    made = Cluster(home, url, environment, SqlDatabase(url, PoolOptions(size=24)), models, broker, endpoint)
    wait_until(valkey.ready, "Valkey answers")
    return made
