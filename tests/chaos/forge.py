"""Starts Memlane's processes by forking one that has imported the libraries: a restart costs a tenth of the time.

Run as a module it is that process; it stays free of threads, connections and settings. What it starts is a session of
its own with the environment and the command that it is given, and as killable as any other.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deploy.local.lifeline import FD_VARIABLE
from tests.switches import switch_off_as_asked

_LIBRARIES = (
    "celery.app.trace", "celery.apps.beat", "celery.apps.worker", "celery.bin.beat", "celery.bin.worker",
    "celery.concurrency.thread", "celery.worker.consumer", "kombu.transport.redis", "redis", "uvicorn",
    "uvicorn.loops.auto", "uvicorn.protocols.http.auto", "core.container", "core.adapters.openai_chat",
    "core.adapters.openai_embedder", "core.services.extract_model", "api.app", "deploy.cli.main", "deploy.cli.worker",
    "deploy.local.endpoint.app", "deploy.local.lifeline", "psycopg", "workers.process",
)  # fmt: skip


class Forge:
    """A context manager; `start` may be called by any thread."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Forge:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.chaos.forge"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def start(self, module: Sequence[str], environment: Mapping[str, str], log: Path) -> Forged:
        """`module` is a module's name and its arguments. Raises OSError when the forge has ended."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = json.dumps({"module": list(module), "environment": dict(environment), "log": str(log)})
        with self._lock:
            self._process.stdin.write(order + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        if not answer:
            raise OSError(f"the forge has ended; see {self._log}")
        return Forged(int(answer))


class Forged:
    """A started process, told by its file descriptor: its number may be another's once it has ended."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        try:
            self._fd: int | None = os.pidfd_open(pid)
        except ProcessLookupError:
            self._fd = None

    def poll(self) -> int | None:
        """None while it runs; what it ended with is not known."""
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        if self._ended(timeout) is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return 0

    def _ended(self, timeout: float | None) -> int | None:
        if self._fd is None:
            return 0
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        if not poll.poll(None if timeout is None else timeout * 1000):
            return None
        os.close(self._fd)
        self._fd = None
        return 0


def _serve() -> None:
    for name in _LIBRARIES:
        __import__(name)
    switch_off_as_asked()
    lifeline = os.pipe()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps; who waits has a descriptor of the process
    for line in sys.stdin:
        order = json.loads(line)
        ready, told = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(ready)
            os.close(lifeline[1])
            order["environment"][FD_VARIABLE] = str(lifeline[0])
            _become(order, told)
        os.close(told)
        os.read(ready, 1)
        os.close(ready)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


def _become(order: dict[str, Any], told: int) -> None:
    """The child's whole life."""
    from deploy.local import lifeline

    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    null, log = os.open(os.devnull, os.O_RDONLY), os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for target, source in ((0, null), (1, log), (2, log)):
        os.dup2(source, target)
    os.environ.clear()
    os.environ.update(order["environment"])
    os.write(told, b"1")
    os.close(told)
    code = 0
    try:
        lifeline.main(order["module"])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
        if isinstance(end.code, str):
            sys.stderr.write(end.code + "\n")
    except BaseException:  # noqa: BLE001 - nothing of the forge may go on in the child
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        code = 1
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _serve()
