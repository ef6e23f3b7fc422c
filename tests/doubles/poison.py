"""Models of a worker process (MEMLANE_MODELS): to embed a text that says POISON ends it, as SIGKILL does."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Sequence

from core.adapters.openai_chat import OpenAIChat
from core.ports.models import Matrix, ModelSet
from tests.doubles.fast import FastEmbedder

POISON = "POISON"
HANGS = "HANGS"  # a text that says so never comes back, while a variable of this name is set


class DeadlyEmbedder(FastEmbedder):
    """A native library that crashes at one input would look like this."""

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        time.sleep(0.02)
        if os.environ.get(HANGS) and any(HANGS in text for text in texts):
            threading.Event().wait()
        if any(POISON in text for text in texts):
            time.sleep(0.3)  # the other slots find work meanwhile
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed_passages(texts)


def models() -> ModelSet:
    """With the chat model of MEMLANE_LLM_BASE_URL, where that is set."""
    url = os.environ.get("MEMLANE_LLM_BASE_URL")
    chat = OpenAIChat(model="double", base_url=url, api_key=None, timeout=30.0) if url else None
    return ModelSet(DeadlyEmbedder(), chat)
