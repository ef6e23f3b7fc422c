"""Models that cost next to nothing, in process, so that `bench drain` measures Memlane and not a model.

The stack is started with MEMLANE_MODELS=deploy.bench.doubles:with_chat or :without_chat.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.ports.models import ChatReply, Matrix, ModelSet

_WORD = re.compile(r"\w+")
_DIMS = 384


class EchoChat:
    """Answers extraction with one memory per new turn, word for word; reads the prompt's lines `{"turn": …}`."""

    name = "echo"

    def complete(
        self, messages: Sequence[dict[str, Any]], schema: dict[str, Any] | None, max_tokens: int
    ) -> ChatReply:
        lines = [line for line in str(messages[-1]["content"]).splitlines() if line.startswith('{"turn"')]
        turns = [json.loads(line) for line in lines]
        items = [{"text": turn["text"], "attributed_to": turn.get("role", "user")} for turn in turns]
        return ChatReply(json.dumps({"memories": items}, ensure_ascii=False), "stop", 300, 30 * len(items))


class HashEmbedder:
    """Bags of hashed words, L2-normalised: texts that share words are near, others about orthogonal."""

    name = "hashed-words"
    dims = _DIMS
    calibration = (0.0, 1.0)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return np.stack([self.embed_query(text) for text in texts]) if texts else np.empty((0, _DIMS), np.float32)

    def embed_query(self, text: str) -> Matrix:
        vector = np.full(_DIMS, 1e-6, dtype=np.float32)  # a text without words still has a direction
        for word in _WORD.findall(text.lower()):
            code = zlib.crc32(word.encode("utf-8", "replace"))
            vector[code % _DIMS] += 1.0 if code & 0x8000_0000 else -1.0
        normalised: Matrix = vector / np.linalg.norm(vector)
        return normalised


def with_chat() -> ModelSet:
    return ModelSet(HashEmbedder(), EchoChat())


def without_chat() -> ModelSet:
    """For verbatim adds, and for the rule-based extractor."""
    return ModelSet(HashEmbedder())
