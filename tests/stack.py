"""A real local stack as a subprocess: `memlane up` in a temporary home on free ports."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from deploy.local.launch import Launch
from deploy.local.lifeline import FD_VARIABLE
from deploy.local.stack_state import StackState

ROOT = Path(__file__).parent.parent
_FOREIGN = ("MEMLANE_", "OPENAI_", "FLOWER_")  # what would change the stack under test


def short_home() -> Path:
    """A temporary folder any account can reach; pytest's own lie in one that only its user can."""
    return Path(tempfile.mkdtemp(prefix="memlane-test-"))


def clean_environment(**added: str) -> dict[str, str]:
    """This process's environment without Memlane's own variables, able to import this tree."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return kept | {"PYTHONPATH": path} | added


def launch(home: Path, environment: Mapping[str, str] | None = None) -> Launch:
    """Starts `memlane up` without this shell's own settings; an empty variable counts as not set."""
    blank = {name: "" for name in os.environ if name.startswith(_FOREIGN) and name != FD_VARIABLE}
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    # tests that poll are no clients to be held back; those of the limit set their project's own
    blank |= {"MEMLANE_RATE_LIMIT_PER_MINUTE": "0"}
    own = {"MEMLANE_HOME": str(home), "MEMLANE_PORT": "0", "MEMLANE_FLOWER_PORT": "0", "PYTHONPATH": path}
    return Launch(home, blank | own | dict(environment or {}))


@contextmanager
def running_stack(**environment: str) -> Iterator[tuple[Launch, StackState]]:
    """A ready stack with these MEMLANE_… variables; stopped and removed afterwards."""
    home = short_home()
    started = launch(home, environment)
    try:
        yield started, started.wait_ready()
    finally:
        started.stop()
        started.discard()
