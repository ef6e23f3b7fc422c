"""What is measured: a server that runs already, or a local stack started for the occasion and thrown away after."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from deploy.bench.client import BenchError
from deploy.local.stack_state import StackState, read_state

_START_SECONDS = 180.0
_STOP_SECONDS = 60.0
_LOOK_SECONDS = 0.1
_LOG_TAIL = 2_000
# A benchmark measures the work, not the limits that protect a server from its callers.
_UNLIMITED = {
    "MEMLANE_RATE_LIMIT_PER_MINUTE": "0",
    "MEMLANE_MAX_OPEN_EVENTS": "1000000",
    "MEMLANE_FLOWER_PORT": "0",
    "MEMLANE_PORT": "0",
    "MEMLANE_LOG_LEVEL": "warning",
}
# What would take the measured stack away from its defaults, or to parts that it does not own.
_FOREIGN = ("MEMLANE_", "OPENAI_")


@dataclass(frozen=True)
class Target:
    """Address and key; `environment` reaches the parts of an own stack and is empty for a foreign server."""

    url: str
    api_key: str
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def own(self) -> bool:
        return bool(self.environment)


@contextmanager
def running(url: str | None, api_key: str | None, settings: Mapping[str, str] | None = None) -> Iterator[Target]:
    """The server at `url`, or else a temporary stack with `settings` (MEMLANE_… variables) over its defaults.

    Raises BenchError when the key is missing or the stack does not start.
    """
    if url:
        if not api_key:
            raise BenchError("--url needs --api-key (or MEMLANE_API_KEY)")
        yield Target(url, api_key)
        return
    home = Path(tempfile.mkdtemp(prefix="memlane-bench-"))
    try:
        with _stack(home, settings or {}) as target:
            yield target
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def _stack(home: Path, settings: Mapping[str, str]) -> Iterator[Target]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    environment |= _UNLIMITED | {"MEMLANE_HOME": str(home)} | dict(settings)
    log = home / "bench-launcher.log"
    with log.open("wb") as output:
        launcher = subprocess.Popen(
            [sys.executable, "-m", "deploy.cli.main", "up"], env=environment, stdout=output, stderr=output
        )
    try:
        state = _wait_until_ready(launcher, home, log)
        yield Target(
            state.api_url, (home / "api_key").read_text(encoding="utf-8").strip(), environment | state.environment
        )
    finally:
        _stop(launcher)


def _wait_until_ready(launcher: subprocess.Popen[bytes], home: Path, log: Path) -> StackState:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        state = read_state(home)
        if state is not None and state.ready:
            return state
        if launcher.poll() is not None:
            break
        time.sleep(_LOOK_SECONDS)
    told = log.read_text(encoding="utf-8", errors="replace")[-_LOG_TAIL:]
    raise BenchError(f"the local stack did not start:\n{told}")


def _stop(launcher: subprocess.Popen[bytes]) -> None:
    if launcher.poll() is not None:
        return
    launcher.send_signal(signal.SIGINT)
    try:
        launcher.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        launcher.kill()
        launcher.wait()
