"""`memlane up` as a child process, for whoever needs a whole stack of their own: the demo, benchmarks, tests."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from deploy.local.failure import StackFailure
from deploy.local.lifeline import FD_VARIABLE
from deploy.local.postgres import moved_folder
from deploy.local.stack_state import StackState, read_state

START_SECONDS = 200.0  # a little more than the launcher gives itself, so that its own words are heard
STOP_SECONDS = 60.0
_SERVICES = ("MEMLANE_DATABASE_URL", "MEMLANE_BROKER_URL", "MEMLANE_REDIS_URL", "MEMLANE_QDRANT_URL")
_OWN = (*_SERVICES, "MEMLANE_QDRANT_API_KEY", "MEMLANE_API_KEY", "MEMLANE_HOST", "MEMLANE_FLOWER_PASSWORD")

T = TypeVar("T")


class Launch:
    """A stack in `home`, on free ports and with services of its own.

    It ends with this process, however that ends: its launcher watches a pipe of ours. `environment` adds to or
    replaces this process's variables; by default Flower is off.
    """

    def __init__(self, home: Path, environment: Mapping[str, str] | None = None) -> None:
        self.home = home
        self.output_file = home / "launcher.out"
        home.mkdir(parents=True, exist_ok=True)
        read_end, self._write_end = os.pipe()
        inherited = {name: value for name, value in os.environ.items() if name not in _OWN}
        own = {
            "MEMLANE_HOME": str(home),
            "MEMLANE_PORT": "0",
            "MEMLANE_FLOWER_PORT": "0",
            FD_VARIABLE: str(read_end),
        }
        with self.output_file.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "deploy.local.lifeline", "deploy.cli.main", "up"],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
                env=inherited | own | dict(environment or {}), pass_fds=(read_end,),
            )  # fmt: skip
        os.close(read_end)

    @property
    def output(self) -> str:
        """What `memlane up` has printed so far."""
        return self.output_file.read_text(errors="replace")

    def wait_ready(self, seconds: float = START_SECONDS) -> StackState:
        """Raises StackFailure with the launcher's own words when it ends first or takes too long."""
        return self._wait(self._ready, seconds)

    def stop(self, number: signal.Signals = signal.SIGTERM, seconds: float = STOP_SECONDS) -> int:
        """The launcher's exit code. Raises StackFailure when it does not end in time."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise StackFailure(f"memlane up did not stop within {seconds:.0f} s.", self.output) from None
        finally:
            self.let_go()

    def let_go(self) -> None:
        """Closes our end of the pipe."""
        if self._write_end >= 0:
            os.close(self._write_end)
            self._write_end = -1

    def discard(self) -> None:
        """Removes the home, and data that had to be kept elsewhere. Stop first."""
        shutil.rmtree(moved_folder(self.home), ignore_errors=True)
        shutil.rmtree(self.home, ignore_errors=True)

    def log_tails(self, lines: int = 15) -> dict[str, str]:
        """The end of each child's log that says anything, by part."""
        logs = sorted((self.home / "logs").glob("*.log"))
        tails = {log.stem: log.read_text(errors="replace").splitlines()[-lines:] for log in logs}
        return {name: "\n".join(tail) for name, tail in tails.items() if tail}

    def _ready(self) -> StackState | None:
        if self.process.poll() is not None:
            raise StackFailure("The stack did not start.", self.output.strip())
        state = read_state(self.home)
        ours = state is not None and state.launcher is not None and state.launcher.pid == self.process.pid
        return state if state and ours and state.ready else None  # a killed launcher leaves its file behind

    def _wait(self, fact: Callable[[], T | None], seconds: float) -> T:
        until = time.monotonic() + seconds
        while (value := fact()) is None:
            if time.monotonic() > until:
                raise StackFailure(f"The stack was not ready within {seconds:.0f} s.", self.output.strip())
            time.sleep(0.05)
        return value
