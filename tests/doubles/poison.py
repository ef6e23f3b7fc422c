"""Models of a worker process (MEMLANE_MODELS): to embed a text that says POISON ends it, as SIGKILL does."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence

from core.ports.models import Matrix, ModelSet
from tests.doubles.fast import FastEmbedder

POISON = "POISON"


class DeadlyEmbedder(FastEmbedder):
    """A native library that crashes at one input would look like this."""

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        time.sleep(0.02)
        if any(POISON in text for text in texts):
            time.sleep(0.3)  # the other slots find work meanwhile
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed_passages(texts)


def models() -> ModelSet:
    return ModelSet(DeadlyEmbedder())
