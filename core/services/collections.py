"""Which collections of the index are written and read: rows in PostgreSQL say so.

Who writes points or vectors asks within its transaction (`HeldCollections.held`, `IngestionStore.enter`) and so holds
the answer until its end; a switch waits for it. `written_by` and `require_embedder` say what follows from it. Who
searches asks the registry, whose answer may be a second old: a collection that is replaced goes on being written, and
is there, for longer than that.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.ports.database import Database, Transaction
from core.ports.index import EmbedderConflict, VectorIndex
from core.ports.models import Embedder
from core.ports.stores.collections import ByRole, IndexCollection

if TYPE_CHECKING:
    from core.services.runtime import Runtime  # which holds a registry of this file

FRESH_SECONDS = 1.0
_LOOK_SECONDS = 10.0


@dataclass(frozen=True)
class Collections:
    """`written` get the memories' own vectors; `staged` is being built with those of another embedder."""

    active: str
    written: tuple[str, ...]
    staged: str | None = None

    @classmethod
    def of(cls, rows: ByRole) -> Collections:
        building = rows.get("building")
        written = [row.name for role, row in sorted(rows.items()) if role == "active" or not row.staged]
        return cls(rows["active"].name, tuple(written), building.name if building and building.staged else None)


class CollectionRegistry:
    """One process's view, at most `FRESH_SECONDS` old."""

    def __init__(self, database: Database, index: VectorIndex, embedder: Embedder, prefix: str) -> None:
        self._database = database
        self._index = index
        self._embedder = embedder
        self._prefix = prefix
        self._lock = threading.Lock()
        self._read_at = 0.0
        self._looked_at = time.monotonic()
        self._value: Collections | None = None

    def current(self) -> Collections:
        """The names in force; the first call of a fresh database registers and creates the first collection.

        Raises EmbedderConflict, IndexUnavailable, DatabaseUnavailable.
        """
        with self._lock:
            if self._value is None or time.monotonic() - self._read_at > FRESH_SECONDS:
                first, self._value = self._value is None, None
                self._value = self._read(first=first)
                self._read_at = time.monotonic()
            return self._value

    def _read(self, *, first: bool) -> Collections:
        with self._database.operations() as tx:
            rows = tx.ops.collections()
            if "active" not in rows:
                tx.ops.add_collection(f"{self._prefix}_1", "active", self._embedder.name, self._embedder.dims)
                rows = tx.ops.collections()
        check_embedder(rows["active"], self._embedder)
        if first:
            self._provide(rows)
        return Collections.of(rows)

    def repair(self) -> int:
        """Now and then: the active collection, where the index has lost it, is made again, and all of its points
        are asked for; returns how many. The sweep then writes them.

        Raises IndexUnavailable, DatabaseUnavailable, TransactionConflict.
        """
        if time.monotonic() - self._looked_at < _LOOK_SECONDS:
            return 0
        with self._database.operations() as tx:
            rows = tx.ops.collections()
        asked = self._provide(rows) if "active" in rows else 0
        self._looked_at = time.monotonic()
        return asked

    def _provide(self, rows: ByRole) -> int:
        """Asking comes before making: whoever dies in between leaves the collection missing, to be seen again."""
        asked = 0
        if not self._index.exists(rows["active"].name):
            with self._database.operations() as tx:
                asked = tx.projections.request_all()
        for row in rows.values():
            self._index.ensure(row.name, row.dims)
        return asked


def check_embedder(active: IndexCollection, embedder: Embedder) -> None:
    """Refuse to mix vectors of two models, also of two models of the same size. Raises EmbedderConflict."""
    stored = (active.embedding_model, active.dims)
    if stored != (embedder.name, embedder.dims):
        raise EmbedderConflict(
            f"the stored vectors were made with {stored[0]} ({stored[1]} dimensions), but the configured "
            f"embedder is {embedder.name} ({embedder.dims} dimensions); configure the former, "
            "or run `memlane reindex --re-embed` to move to the latter"
        )


def written_by(runtime: Runtime, tx: Transaction, held: ByRole) -> Collections:
    """The collections that a transaction which holds these has to write points to.

    It must have asked before it locked any row, so that a switch never stands between two transactions.
    """
    if "active" not in held:
        runtime.collections.current()
        held = tx.rebuild.held()
    return Collections.of(held)


def require_embedder(runtime: Runtime, held: ByRole) -> None:
    """For a transaction that holds these and stores vectors of this process's embedder: they are of the model that is
    in force until it ends. Raises EmbedderConflict."""
    if "active" in held:
        check_embedder(held["active"], runtime.models.embedder)
