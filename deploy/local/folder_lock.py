"""One launcher per MEMLANE_HOME, by `flock`: the kernel frees it with the process, however that ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.local.failure import StackFailure


class AlreadyRunning(StackFailure):
    """Another launcher holds the folder."""


@contextmanager
def folder_lock(home: Path) -> Iterator[None]:
    """Raises AlreadyRunning. The file is removed with the lock still held, so nobody can lock a dead name."""
    path = home / "lock"
    descriptor = _take(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _take(path: Path) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as held:
            os.close(descriptor)
            raise AlreadyRunning(f"Memlane is already running in {path.parent}.") from held
        if _still_named(descriptor, path):
            return descriptor
        os.close(descriptor)  # its holder removed the name between our open and our lock


def _still_named(descriptor: int, path: Path) -> bool:
    try:
        return os.fstat(descriptor).st_ino == path.stat().st_ino
    except FileNotFoundError:
        return False
