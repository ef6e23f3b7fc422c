"""Reranker in process: a cross-encoder through `fastembed` (ONNX), the optional extra `rerank`.

The model's files are fetched once into fastembed's cache. Loading takes from a second to minutes, so a thread does it
while searches go on; until then, and for good where it fails, `rerank` raises ModelError.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from core.adapters.rerank_scores import unit
from core.ports.models import ModelError
from core.text.budget import clean

DEFAULT_MODEL = "BAAI/bge-reranker-base"  # Chinese and English, MIT licence


class CrossEncoder(Protocol):
    """What is used of fastembed's TextCrossEncoder."""

    def rerank(self, query: str, documents: Iterable[str]) -> Iterable[float]: ...


def load(model: str) -> CrossEncoder:
    """Raises ImportError (no such extra installed), ValueError (an unknown model, or no files to be had), OSError."""
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    made: CrossEncoder = TextCrossEncoder(model, threads=1)
    return made


class FastEmbedReranker:
    """Safe to use from many threads. `loading` ends when the model is there or has failed."""

    def __init__(self, model: str = DEFAULT_MODEL, loader: Callable[[str], CrossEncoder] = load) -> None:
        self.name = model
        self._encoder: CrossEncoder | None = None
        self._failure: str | None = None
        self.loading = threading.Thread(target=self._load, args=(loader,), name="rerank-model", daemon=True)
        self.loading.start()

    def rerank(self, query: str, documents: Sequence[str]) -> list[float]:
        """Relevance in [0, 1] of each document, in the order given. Raises ModelError."""
        if not documents:
            return []
        if self._encoder is None:
            raise ModelError(self._failure or f"The rerank model {self.name} is being loaded.")
        try:
            scores = [float(score) for score in self._encoder.rerank(clean(query), list(map(clean, documents)))]
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"The rerank model failed: {type(error).__name__}") from error
        if len(scores) != len(documents) or not all(map(math.isfinite, scores)):
            raise ModelError(f"The rerank model gave {len(scores)} usable scores for {len(documents)} documents.")
        return unit(scores)

    def _load(self, loader: Callable[[str], CrossEncoder]) -> None:
        try:
            self._encoder = loader(self.name)
        except ImportError as error:
            self._failure = f"The extra for local reranking is not installed (pip install 'memlane[rerank]'): {error}"
        except (ValueError, OSError, RuntimeError) as error:  # unknown model; no network; a file that does not load
            self._failure = f"The rerank model {self.name} cannot be loaded: {type(error).__name__}: {error}"[:300]
        finally:  # whatever else is raised shows on the process's stderr; nobody is to wait for this model any more
            if self._encoder is None and self._failure is None:
                self._failure = f"The rerank model {self.name} failed to load."
