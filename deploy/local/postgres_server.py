"""A PostgreSQL of one's own for the length of a `with` block: tests and benchmarks that need no whole stack."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.local.parts import STOP_ORDER, guard_part, postgres_part
from deploy.local.postgres import Postgres
from deploy.local.supervisor import Supervisor


@contextmanager
def running_postgres(home: Path, *, durable: bool = True, patience: float = 60.0) -> Iterator[Postgres]:
    """Starts the server, waits at most `patience` seconds for it, and ends it with its sockets afterwards.

    A guard ends it where this process is killed.
    """
    server = Postgres(home, durable=durable)
    server.locate()
    supervisor = Supervisor(home / "logs", os.environ, say=lambda line: None)
    try:
        server.create()
        supervisor.start(guard_part(home, server))
        child = supervisor.start(postgres_part(server))
        supervisor.wait_for(lambda: server.ready(child.process.pid), "PostgreSQL was not ready", patience)
        yield server
    finally:
        supervisor.stop(STOP_ORDER)
        server.discard_sockets()
