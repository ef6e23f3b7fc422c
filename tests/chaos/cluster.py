"""Real processes on one machine, each of which a test may kill, freeze and start again."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import Any

from sqlalchemy import TextClause

from core.adapters.sql.database import PoolOptions, SqlDatabase
from deploy.local.parts import STOP_ORDER, guard_part
from deploy.local.ports import free_port
from deploy.local.postgres import Postgres
from deploy.local.supervisor import Supervisor
from deploy.local.valkey import Valkey
from deploy.migrations.run import upgrade
from tests.chaos.forge import Forge, Forged
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
    """One process that can be ended and started again with the same command.

    `options` are those of subprocess.Popen. With a forge the command is a Python module and its arguments, and the
    process ends with the test, however that ends.
    """

    name: str
    command: list[str]
    environment: Mapping[str, str]
    log: Path
    options: Mapping[str, Any] = field(default_factory=dict)
    forge: Forge | None = None
    process: subprocess.Popen[bytes] | Forged | None = None
    kills: int = 0

    def start(self, **more: str) -> None:
        environment = {**self.environment, **more}
        if self.forge is not None:
            self.process = self.forge.start(self.command, environment, self.log)
            return
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, env=environment, stdout=log, stderr=log, start_new_session=True, **self.options
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

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid


@dataclass
class Cluster:
    """PostgreSQL, Valkey, the index endpoint and model doubles; workers and APIs are started by the test."""

    home: Path
    url: str
    environment: dict[str, str]
    database: SqlDatabase
    models: ModelServer
    forge: Forge
    server: Postgres
    postgres: Part
    broker: Valkey
    valkey: Part
    endpoint: Part
    parts: list[Part] = field(default_factory=list)

    def part(self, name: str, command: list[str], **environment: str) -> Part:
        """`command` is a Python module and its arguments."""
        made = Part(name, command, {**self.environment, **environment}, self.home / f"{name}.log", forge=self.forge)
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
        command = ["celery", "-A", "workers.app", "worker", *options, *quiet]
        return self.part(name, command, **environment)

    def api(self, port: int) -> Part:
        made = self.part("api", ["deploy.cli.main", "api", "--port", str(port)])
        made.start()
        return made

    def beats(self, part: Part) -> bool:
        """Whether this very process has sent a heartbeat in the last seconds."""
        with self.database.operations() as tx:
            return part.pid in [row.info["pid"] for row in tx.ops.alive(3.0)]

    def scalar(self, query: TextClause) -> object:
        with self.database.operations() as tx:
            return tx.connection.execute(query).scalar_one()

    def end_parts(self) -> None:
        """End what a test has started of its own."""
        for part in self.parts:
            if part.running:
                part.send(signal.SIGCONT)
                part.kill()
        self.parts.clear()

    def stop(self) -> None:
        for part in [*self.parts, self.valkey, self.endpoint]:
            if part.running:
                part.send(signal.SIGCONT)
                part.send(signal.SIGKILL)
                part.wait()
        if self.postgres.running:
            self.postgres.send(signal.SIGINT)
            self.postgres.wait()


@contextmanager
def cluster(**settings: str) -> Iterator[Cluster]:
    """A fresh cluster in a temporary home; everything is gone when the block ends."""
    home = short_home()
    server = Postgres(home, durable=False)
    server.locate()
    supervisor = Supervisor(home / "logs", os.environ, say=lambda line: None)
    try:
        with (
            ModelServer(dims=16) as models,
            quick_folder() as index,
            Forge(home / "forge.log") as forge,
        ):
            server.create()
            supervisor.start(guard_part(home, server))
            running = _start((home, index), server, models, forge, settings)
            try:
                yield running
            finally:
                running.stop()
                running.database.close()
    finally:
        supervisor.stop(STOP_ORDER)  # the guard ends what a failed start has left
        server.discard_sockets()
        rmtree(home, ignore_errors=True)


def _start(
    folders: tuple[Path, Path], server: Postgres, models: ModelServer, forge: Forge, settings: Mapping[str, str]
) -> Cluster:
    home, index = folders
    postgres = Part("postgres", server.command(), dict(os.environ), home / "postgres.log", server.options)
    postgres.start()
    wait_until(lambda: server.ready(postgres.pid), "PostgreSQL accepts connections")
    url = server.create_database("chaos")
    upgrade(url)
    valkey = Valkey(home, free_port(), secrets.token_hex(8))
    valkey.prepare()
    port, key = free_port(), secrets.token_hex(8)
    environment = {
        **os.environ,
        "MEMLANE_DATABASE_URL": url,
        "MEMLANE_RATE_LIMIT_PER_MINUTE": "0",
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
    index_command = ["deploy.local.endpoint", "--path", str(index / "data"), "--port", str(port)]
    endpoint = Part("endpoint", index_command, environment, home / "endpoint.log", forge=forge)
    broker.start()
    endpoint.start()
    database = SqlDatabase(url, PoolOptions(size=24))
    made = Cluster(home, url, environment, database, models, forge, server, postgres, valkey, broker, endpoint)
    wait_until(valkey.ready, "Valkey answers")
    return made
