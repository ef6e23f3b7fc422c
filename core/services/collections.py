"""Which collections of the index are written and read: rows in PostgreSQL say so."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

from core.ports.database import Database
from core.ports.index import VectorIndex
from core.ports.models import Embedder

FRESH_SECONDS = 1.0


class EmbedderConflict(Exception):
    """The configured embedder is not the one that the stored vectors were made with."""


@dataclass(frozen=True)
class Collections:
    active: str
    building: str | None = None

    @property
    def written(self) -> list[str]:
        return [self.active] if self.building is None else [self.active, self.building]


class CollectionRegistry:
    """One process's view, at most `FRESH_SECONDS` old; a rebuild waits for longer than that before it copies."""

    def __init__(self, database: Database, index: VectorIndex, embedder: Embedder, prefix: str) -> None:
        self._database = database
        self._index = index
        self._embedder = embedder
        self._prefix = prefix
        self._lock = threading.Lock()
        self._read_at = 0.0
        self._value: Collections | None = None

    def current(self) -> Collections:
        """The names in force; the first call of a fresh database registers and creates the first collection.

        Raises EmbedderConflict, IndexUnavailable, DatabaseUnavailable.
        """
        with self._lock:
            if self._value is None or time.monotonic() - self._read_at > FRESH_SECONDS:
                self._value = self._read(first=self._value is None)
                self._read_at = time.monotonic()
            return self._value

    def _read(self, *, first: bool) -> Collections:
        with self._database.operations() as tx:
            rows = tx.ops.collections()
            if "active" not in rows:
                tx.ops.add_collection(f"{self._prefix}_1", "active", self._embedder.name, self._embedder.dims)
                rows = tx.ops.collections()
        if first:
            self._check(rows["active"])
            for row in rows.values():
                self._index.ensure(row.name, row.dims)
        building = rows.get("building")
        return Collections(rows["active"].name, building.name if building else None)

    def _check(self, active: Any) -> None:
        """Refuse to mix vectors of two models, also of two models of the same size."""
        stored = (active.embedding_model, active.dims)
        if stored != (self._embedder.name, self._embedder.dims):
            raise EmbedderConflict(
                f"the stored vectors were made with {stored[0]} ({stored[1]} dimensions), but the configured "
                f"embedder is {self._embedder.name} ({self._embedder.dims} dimensions); configure the former, "
                "or run `memlane reindex --re-embed` to move to the latter"
            )
