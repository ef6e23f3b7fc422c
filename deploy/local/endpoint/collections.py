"""The collections of one data folder: opened, made, removed and flushed.

Layout: `PATH/lock` (held while the process lives), `PATH/collections/NAME` (an Edge shard each).
A collection is made aside and renamed into place, and renamed away before it is removed, so that a
process killed half-way leaves either all of it or none.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import re
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO
from uuid import uuid4

import qdrant_edge as edge

from deploy.local.endpoint.errors import Refused, engine_errors, no_collection, wrong_input
from deploy.local.endpoint.vectors import Schema

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}")
_ASIDE = ".aside-"
FLUSH_POINTS = 20_000  # about 4 s to replay
FLUSH_IDLE_SECONDS = 30.0


class FolderBusy(Exception):
    """Another process serves this folder."""


class FolderUnreadable(Exception):
    """A collection's folder can't be opened."""


@dataclass
class Collection:
    """An open shard. `unflushed` counts the points whose changes are in the write-ahead log alone."""

    name: str
    shard: edge.EdgeShard
    schema: Schema
    unflushed: int = 0
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    def update(self, operation: Any, points: int = 1) -> int:
        """Apply one operation; returns its number. When this returns, the change survives `kill -9`."""
        self.unflushed += points
        with engine_errors():
            self.shard.update(operation)
        return next(self._numbers)

    def flush(self) -> None:
        """Write the log's changes to the segments and empty it, so that the next start has little to replay.

        About 65 files are synced to disk one by one while everybody waits: 0.1 to 1.5 s, whatever the changes.
        """
        with engine_errors():
            self.shard.flush()
        self.unflushed = 0


class Store:
    """All collections of a folder. Raises FolderBusy, FolderUnreadable."""

    def __init__(self, path: Path) -> None:
        self._root = path / "collections"
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = _locked(path / "lock")
        self._open: dict[str, Collection] = {}
        self.used_at = time.monotonic()
        for folder in sorted(self._root.iterdir()):
            if folder.name.startswith(_ASIDE):
                shutil.rmtree(folder)
            elif folder.is_dir():
                self._open[folder.name] = self._load(folder)

    @property
    def names(self) -> list[str]:
        return sorted(self._open)

    def get(self, name: str) -> Collection:
        found = self._open.get(name)
        if found is None:
            raise no_collection(name)
        return found

    def create(self, name: str, schema: Schema) -> None:
        if not _NAME.fullmatch(name):
            raise wrong_input(f"collection name {name!r}: 1 to 255 letters, digits, '_', '-' or '.'")
        if name in self._open:
            raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
        aside = self._aside()
        with engine_errors():
            edge.EdgeShard.create(str(aside), schema.config()).close()
        folder = aside.rename(self._root / name)
        self._open[name] = self._load(folder)

    def delete(self, name: str) -> bool:
        """False when there is no such collection, as Qdrant answers."""
        gone = self._open.pop(name, None)
        if gone is None:
            return False
        gone.shard.close()
        shutil.rmtree((self._root / name).rename(self._aside()))
        return True

    def flush_when_due(self) -> None:
        """Flush what would take long to replay, and everything when nobody has asked anything for a while."""
        idle = time.monotonic() - self.used_at >= FLUSH_IDLE_SECONDS
        for collection in self._open.values():
            if collection.unflushed >= FLUSH_POINTS or (idle and collection.unflushed):
                collection.flush()

    def close(self) -> None:
        """Flush and close everything; the folder is free for the next process."""
        while self._open:
            _, collection = self._open.popitem()
            collection.shard.close()  # flushes
        self._lock.close()

    def _load(self, folder: Path) -> Collection:
        try:
            schema = Schema.of_folder(folder)
            return Collection(folder.name, edge.EdgeShard.load(str(folder), schema.config()), schema)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # the binding raises bare Exception, and panics are no Exception at all
            raise FolderUnreadable(f"{folder}: {error}") from error

    def _aside(self) -> Path:
        return self._root / f"{_ASIDE}{uuid4().hex}"


def _locked(path: Path) -> TextIO:
    """Take the folder's lock; it goes with the process, however that ends."""
    handle = path.open("a+")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        handle.seek(0)
        owner = handle.read().strip() or "unknown"
        handle.close()
        raise FolderBusy(f"{path.parent} is served by another endpoint (process {owner})") from error
    handle.seek(0)
    handle.truncate()
    handle.write(str(os.getpid()))
    handle.flush()
    return handle
