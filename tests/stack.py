"""A real local stack as a subprocess: `memlane up` in a temporary home on free ports."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from deploy.local.lifeline import FD_VARIABLE
from deploy.local.stack_state import StackState, read_state
from tests.waiting import wait_until

ROOT = Path(__file__).parent.parent
START_SECONDS = 120.0
STOP_SECONDS = 60.0


def short_home() -> Path:
    """A temporary folder any account can reach; pytest's own lie in one that only its user can."""
    return Path(tempfile.mkdtemp(prefix="memlane-test-"))


def clean_environment(**added: str) -> dict[str, str]:
    """This process's environment without what would change the stack under test."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MEMLANE_", "OPENAI_", "FLOWER_"))}
    kept["PYTHONPATH"] = str(ROOT) + (f":{kept['PYTHONPATH']}" if kept.get("PYTHONPATH") else "")
    return kept | added


@dataclass
class Launch:
    """One `memlane up`. Its end of a pipe makes it stop even when the test process is killed."""

    home: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        read_end, self._write_end = os.pipe()
        defaults = {"MEMLANE_HOME": str(self.home), "MEMLANE_PORT": "0", "MEMLANE_FLOWER_PORT": "0"}
        added = defaults | dict(self.environment) | {FD_VARIABLE: str(read_end)}
        with self.output_file.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "deploy.local.lifeline", "deploy.cli.main", "up"], cwd=ROOT,
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
                env=clean_environment(**added), pass_fds=(read_end,),
            )  # fmt: skip
        os.close(read_end)

    @property
    def output_file(self) -> Path:
        return self.home.with_name(self.home.name + ".out")

    @property
    def output(self) -> str:
        return self.output_file.read_text(errors="replace")

    def wait_ready(self, seconds: float = START_SECONDS) -> StackState:
        """Fails the test with the launcher's output when it ends before it is ready."""

        def ready() -> StackState | None:
            if self.process.poll() is not None:
                raise AssertionError(f"memlane up ended with {self.process.returncode}:\n{self.output}")
            state = read_state(self.home)
            return state if state and state.ready else None

        return wait_until(ready, seconds, what=f"stack ready; {self.output}")

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """The launcher's exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"memlane up did not stop:\n{self.output}") from None
        finally:
            self.close()

    def close(self) -> None:
        if self._write_end >= 0:
            os.close(self._write_end)
            self._write_end = -1


@contextmanager
def running_stack(**environment: str) -> Iterator[tuple[Launch, StackState]]:
    """A ready stack with these MEMLANE_… variables; stopped and removed afterwards."""
    home = short_home()
    launch = Launch(home, environment)
    try:
        yield launch, launch.wait_ready()
    finally:
        launch.stop()
        shutil.rmtree(home, ignore_errors=True)
        launch.output_file.unlink(missing_ok=True)
