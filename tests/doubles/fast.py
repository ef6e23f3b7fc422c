"""In-process twins of the chat model and the embedder: deterministic, fast, without a network."""

from __future__ import annotations

import json
import re
import threading
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.ports.models import ChatReply, Matrix

_WORD = re.compile(r"\w+")
_TURN = re.compile(r'^\{"turn".*\}$', re.MULTILINE)


class FastChat:
    """Answers an extraction request with one memory per new user or assistant turn, in its own words."""

    name = "fast-chat"

    def __init__(self) -> None:
        self.calls = 0
        self._lock = threading.Lock()

    def complete(
        self, messages: Sequence[dict[str, Any]], schema: dict[str, Any] | None, max_tokens: int
    ) -> ChatReply:
        with self._lock:
            self.calls += 1
        turns = [json.loads(line) for line in _TURN.findall(str(messages[-1]["content"]))]
        items = [{"text": turn["text"], "attributed_to": turn["role"]} for turn in turns if turn["text"].strip()]
        return ChatReply(json.dumps({"memories": items}, ensure_ascii=False), "stop", 200, 20 * len(items))


class FastEmbedder:
    """A bag of hashed words: texts that share words are near each other, others about orthogonal."""

    name = "fast-embedder"
    calibration = (0.0, 1.0)

    def __init__(self, dims: int = 384) -> None:
        self.dims = dims
        self.calls = 0
        self._lock = threading.Lock()

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        with self._lock:
            self.calls += 1
        if not texts:
            return np.empty((0, self.dims), dtype=np.float32)
        return np.stack([self._vector(text) for text in texts])

    def embed_query(self, text: str) -> Matrix:
        with self._lock:
            self.calls += 1
        return self._vector(text)

    def _vector(self, text: str) -> Matrix:
        vector = np.zeros(self.dims, dtype=np.float32)
        vector[0] = 0.01  # a text without words still has a direction
        for word in _WORD.findall(text.lower()):
            code = zlib.crc32(word.encode("utf-8", "replace"))
            vector[code % self.dims] += 1.0 if code & 0x8000_0000 else -1.0
        if not vector.any():
            vector[0] = 1.0
        normalised: Matrix = vector / np.linalg.norm(vector)
        return normalised
