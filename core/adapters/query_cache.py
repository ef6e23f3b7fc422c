"""An LRU cache of query vectors around any embedder: people and programs ask the same thing again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from core.ports.models import Embedder, Matrix


class CachedQueries:
    """Passages pass through. `size` queries are kept, 1.5 KB each at 384 dimensions. Failures are not kept."""

    def __init__(self, embedder: Embedder, size: int = 2048) -> None:
        self._embedder = embedder
        self._size = size
        self._vectors: OrderedDict[str, Matrix] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dims(self) -> int:
        return self._embedder.dims

    @property
    def calibration(self) -> tuple[float, float]:
        return self._embedder.calibration

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return self._embedder.embed_passages(texts)

    def embed_query(self, text: str) -> Matrix:
        """Shape (dims,); read-only, since callers share it."""
        with self._lock:
            found = self._vectors.get(text)
            if found is not None:
                self._vectors.move_to_end(text)
                return found
        vector = self._embedder.embed_query(text)
        vector.setflags(write=False)
        with self._lock:
            self._vectors[text] = vector
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
        return vector
