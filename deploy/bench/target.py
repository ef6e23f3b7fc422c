"""What is measured: a server that runs already, or a local stack started for the occasion and thrown away after."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from deploy.bench.client import BenchError
from deploy.local.failure import StackFailure
from deploy.local.launch import Launch

# A benchmark measures the work, not the limits that protect a server from its callers.
_UNLIMITED = {
    "MEMLANE_RATE_LIMIT_PER_MINUTE": "0",
    "MEMLANE_MAX_OPEN_EVENTS": "1000000",
    "MEMLANE_LOG_LEVEL": "warning",
}
# What would take the measured stack away from its defaults, or to parts that it does not own.
_FOREIGN = ("MEMLANE_", "OPENAI_", "FLOWER_")


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
    blank = {name: "" for name in os.environ if name.startswith(_FOREIGN)}  # an empty variable counts as not set
    environment = blank | _UNLIMITED | dict(settings)
    try:
        launch = Launch(home, environment)
        try:
            state = launch.wait_ready()
            key = (home / "api_key").read_text(encoding="utf-8").strip()
            yield Target(state.api_url, key, {**os.environ, **environment, **state.environment})
        finally:
            launch.stop()
    except StackFailure as failure:
        raise BenchError(f"{failure.message} {failure.fix or ''}") from failure
