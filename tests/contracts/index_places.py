"""Where the index contract runs: the local endpoint as a subprocess, and a Qdrant server when one is named."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from core.adapters.qdrant import QdrantIndex
from deploy.local.lifeline import FD_VARIABLE

SECONDS = 20.0
_ADDRESS = re.compile(r"http://[\d.]+:\d+")


@dataclass
class Endpoint:
    """A running endpoint process and how to reach it."""

    process: subprocess.Popen[str]
    path: Path
    url: str
    api_key: str

    def index(self) -> QdrantIndex:
        return QdrantIndex(self.url, self.api_key)

    def http(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers={"api-key": self.api_key}, timeout=SECONDS)

    def stop(self, by: signal.Signals = signal.SIGTERM) -> int:
        """End it by a signal; returns its exit status."""
        self.process.send_signal(by)
        return self.process.wait(SECONDS)


@contextmanager
def quick_folder() -> Iterator[Path]:
    """A folder in memory where there is room: these tests kill processes, not the machine, so nothing need reach
    a disk, and the engine syncs some hundred files for each collection made. Elsewhere a temporary folder."""
    memory = Path("/dev/shm")
    roomy = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2 * 2**30
    with tempfile.TemporaryDirectory(prefix="memlane-index-", dir=memory if roomy else None) as folder:
        yield Path(folder)


def command(path: Path, *more: str) -> list[str]:
    module = ["deploy.local.lifeline", "deploy.local.endpoint"]
    return [sys.executable, "-m", *module, "--path", str(path), "--port", "0", *more]


@contextmanager
def endpoint(path: Path, *more: str) -> Iterator[Endpoint]:
    """An endpoint on a free port, ready; it is gone when the block ends, or when this process is killed."""
    key = secrets.token_hex(8)
    lifeline, held = os.pipe()
    process = subprocess.Popen(
        command(path, *more),
        env=os.environ | {"MEMLANE_QDRANT_API_KEY": key, FD_VARIABLE: str(lifeline)},
        pass_fds=[lifeline],
        stdout=subprocess.PIPE,
        text=True,
    )
    os.close(lifeline)
    try:
        assert process.stdout is not None
        address = _ADDRESS.search(process.stdout.readline())  # said once it listens; empty if it ended instead
        assert address, f"the endpoint did not start: {process.wait(SECONDS)}"
        yield Endpoint(process, path, address.group(), key)
    finally:
        os.close(held)
        process.kill()
        process.communicate()
