"""A PostgreSQL of one's own for the length of a `with` block: tests and benchmarks that need no whole stack."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.local.failure import StackFailure
from deploy.local.postgres import Postgres


@contextmanager
def running_postgres(home: Path, *, durable: bool = True, patience: float = 60.0) -> Iterator[Postgres]:
    """Starts the server, waits at most `patience` seconds for it, and ends it with its sockets afterwards."""
    server = Postgres(home, durable=durable)
    server.locate()
    try:
        server.create()
        child, log = _start(server, home / "postgres.log")
        try:
            _wait_ready(server, child, log, patience)
            yield server
        finally:
            stop(child)
    finally:
        server.discard_sockets()


def _start(server: Postgres, log: Path) -> tuple[subprocess.Popen[bytes], Path]:
    with log.open("ab") as output:
        child = subprocess.Popen(
            server.command(), stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
            **server.options,
        )  # fmt: skip
    return child, log


def stop(child: subprocess.Popen[bytes], patience: float = 20.0) -> None:
    """PostgreSQL's fast shutdown; its immediate one when that takes too long."""
    if child.poll() is not None:
        return
    child.send_signal(signal.SIGINT)
    try:
        child.wait(patience)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGQUIT)
        child.wait(patience)


def _wait_ready(server: Postgres, child: subprocess.Popen[bytes], log: Path, patience: float) -> None:
    until = time.monotonic() + patience
    while not server.ready(child.pid):
        if child.poll() is not None or time.monotonic() > until:
            raise StackFailure("PostgreSQL did not start.", f"Its log says: {log.read_text()[-2000:]}")
        time.sleep(0.02)
