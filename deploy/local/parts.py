"""The children of the local stack: their commands, how each is stopped, and in which order."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from deploy.local.postgres import Postgres
from deploy.local.supervisor import Part
from deploy.local.valkey import Valkey

INGEST_NICE = 15  # ingestion may use idle processors, but never takes them from the API and its searches
_WORKER_STOP = ((signal.SIGTERM, 25.0),)  # a worker has 20 s to hand its leases back
_API_STOP = ((signal.SIGTERM, 15.0),)

# Who takes work goes first, then who carries it, then who keeps it. The guard goes with the launcher's pipe.
STOP_ORDER: Sequence[Callable[[str], bool]] = (
    lambda name: name not in ("guard", "endpoint", "valkey", "postgres"),
    lambda name: name in ("endpoint", "valkey"),
    lambda name: name == "postgres",
)


def guard_part(home: Path, postgres: Postgres | None) -> Part:
    """Watches the launcher's pipe itself, so it needs no lifeline around it."""
    data = [str(postgres.data)] if postgres else []
    return Part("guard", [sys.executable, "-m", "deploy.local.guard", str(home), *data])


def postgres_part(postgres: Postgres) -> Part:
    """Fast shutdown, then immediate."""
    steps = ((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0))
    return Part("postgres", postgres.command(), stop=steps, options=postgres.options)


def valkey_part(valkey: Valkey) -> Part:
    return Part("valkey", valkey.command())


def endpoint(home: Path, port: int) -> Part:
    """The loopback endpoint over Qdrant Edge; its key goes by the environment."""
    arguments = ["--path", str(home / "qdrant"), "--host", "127.0.0.1", "--port", str(port)]
    command = _module("deploy.local.endpoint", *arguments, "--port-file", str(home / "qdrant.port"))
    return Part("endpoint", command, stop=((signal.SIGTERM, 15.0),))


def migrate() -> Part:
    return Part("migrate", _memlane("migrate"), once=True)


def api(listener_fd: int) -> Part:
    return Part("api", _memlane("api", "--fd", str(listener_fd)), stop=_API_STOP, pass_fds=(listener_fd,))


def ingest_worker(number: int, concurrency: int) -> Part:
    name = f"ingest-{number}"
    command = _memlane(
        "worker", "--queues", "ingest", "--name", name, "--concurrency", str(concurrency), nice=INGEST_NICE
    )
    return Part(name, command, stop=_WORKER_STOP)


def upkeep_worker() -> Part:
    command = _memlane("worker", "--queues", "webhooks,upkeep", "--name", "upkeep", "--concurrency", "4")
    return Part("upkeep", command, stop=_WORKER_STOP)


def beat(home: Path) -> Part:
    return Part("beat", _memlane("beat", "--schedule", str(home / "beat-schedule")))


def flower(port: int) -> Part:
    return Part("flower", _memlane("flower", "--host", "127.0.0.1", "--port", str(port)), essential=False)


def _memlane(*arguments: str, nice: int = 0) -> list[str]:
    return _module("deploy.cli.main", *arguments, nice=nice)


def _module(module: str, *arguments: str, nice: int = 0) -> list[str]:
    options = ["--nice", str(nice)] if nice else []
    return [sys.executable, "-m", "deploy.local.lifeline", *options, module, *arguments]
