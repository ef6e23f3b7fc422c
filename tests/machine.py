"""What some tests need of the machine, and whether it is there.

A test says `@pytest.mark.needs("rabbitmq")`. What is missing is not run and listed at the end with its reason;
MEMLANE_REQUIRE=rabbitmq,node turns that into a failure before anything runs, where a test needs one of these.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

_CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def _rabbitmq() -> str | None:
    found = shutil.which("rabbitmq-server") or Path("/usr/sbin/rabbitmq-server").exists()
    return None if found else "no rabbitmq-server on this machine"


def _node() -> str | None:
    return None if shutil.which("node") and shutil.which("npm") else "no node and npm on this machine"


def _chromium() -> str | None:
    return None if any(map(shutil.which, _CHROMIUMS)) else "no Chromium on this machine"


def _qdrant() -> str | None:
    return None if os.environ.get("QDRANT_URL") else "QDRANT_URL does not name a Qdrant server"


def _redis() -> str | None:
    return None if shutil.which("redis-server") else "no redis-server on this machine"


def _model() -> str | None:
    return None if os.environ.get("MEMLANE_LLM_BASE_URL") else "MEMLANE_LLM_BASE_URL does not name a chat endpoint"


def _namespaces() -> str | None:
    """Whether this user may make a network namespace: root on Linux, as a rule."""
    unshare = shutil.which("unshare")
    allowed = unshare and subprocess.run([unshare, "--net", "true"], capture_output=True, check=False).returncode == 0
    return None if allowed else "no right to make a network namespace (unshare --net)"


def _mounts() -> str | None:
    """Whether this user may mount a file system: root, as a rule. Tried where nobody else would see it."""
    unshare = shutil.which("unshare")
    command = [str(unshare), "--mount", "mount", "-t", "tmpfs", "-o", "size=64k", "memlane-test", "/tmp"]
    allowed = unshare and subprocess.run(command, capture_output=True, check=False).returncode == 0
    return None if allowed else "no right to mount a file system (mount -t tmpfs)"


def faketime_library() -> Path | None:
    """The thread-safe libfaketime, as Debian's package `faketime` has it."""
    for pattern in ("lib/*/faketime/libfaketimeMT.so.1", "lib64/faketime/libfaketimeMT.so.1"):
        if found := sorted(Path("/usr").glob(pattern)):
            return found[0]
    return None


def _faketime() -> str | None:
    return None if faketime_library() else "no libfaketime on this machine (package faketime)"


NEEDS: dict[str, Callable[[], str | None]] = {
    "rabbitmq": _rabbitmq,
    "redis": _redis,
    "node": _node,
    "chromium": _chromium,
    "qdrant": _qdrant,
    "model": _model,
    "namespaces": _namespaces,
    "mounts": _mounts,
    "faketime": _faketime,
}


class MachinePlugin:
    """Leaves out what cannot run here, and says so at the end."""

    def __init__(self) -> None:
        self.not_run: Counter[str] = Counter()

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        required = {name.strip() for name in os.environ.get("MEMLANE_REQUIRE", "").split(",") if name.strip()}
        unknown = required - set(NEEDS)
        if unknown:
            raise pytest.UsageError(f"MEMLANE_REQUIRE: {', '.join(sorted(unknown))} is none of {', '.join(NEEDS)}")
        kept, left_out = [], []
        for item in items:
            missing = _missing(item)
            for name in sorted(required & missing.keys()):
                raise pytest.UsageError(f"MEMLANE_REQUIRE={name}, but: {missing[name]}")
            self.not_run.update(list(missing.values())[:1])
            (left_out if missing else kept).append(item)
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = kept

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.not_run:
            terminalreporter.section("NOT RUN")
            for reason, tests in sorted(self.not_run.items()):
                terminalreporter.line(f"NOT RUN: {reason} ({tests} test{'s' if tests > 1 else ''})")


def _missing(item: pytest.Item) -> dict[str, str]:
    """name → reason, for each thing the test needs and the machine has not."""
    names = [name for marker in item.iter_markers("needs") for name in marker.args]
    return {name: reason for name in names if (reason := NEEDS[name]())}
