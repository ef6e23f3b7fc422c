"""MEMLANE_MODELS: models of one's own, in process."""

from __future__ import annotations

import numpy as np
import pytest

from core.adapters.system_clock import SystemClock
from core.container import SettingsError, _models
from core.ports.models import ModelSet
from core.services.breaker import Breakers
from core.settings import Settings
from deploy.bench.doubles import HashEmbedder


class Quiet:
    def emit(self, name: str, **fields: object) -> None: ...


def models_of(place: str) -> ModelSet:
    return _models(Settings(models=place), Breakers(SystemClock().now), Quiet())


def test_the_named_function_makes_the_models() -> None:
    models = models_of("deploy.bench.doubles:with_chat")
    assert models.embedder.name == "hashed-words"
    assert models.chat is not None


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("no.such.module:make", "No module named"),
        ("deploy.bench.doubles:nothing", "nothing"),
        ("deploy.bench.doubles", "deploy.bench.doubles"),
        ("builtins:dict", "made a dict, not a ModelSet"),
    ],
)
def test_what_cannot_be_used_is_told(place: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        models_of(place)


def test_the_doubles_vectors_are_normalised_and_near_for_shared_words() -> None:
    embedder = HashEmbedder()
    tea, also_tea, other = embedder.embed_passages(["I like green tea", "green tea I like", "boats in Oslo"])
    assert np.linalg.norm(tea) == pytest.approx(1.0, abs=1e-5)
    assert tea @ also_tea == pytest.approx(1.0, abs=1e-5)
    assert abs(tea @ other) < 0.3
    assert embedder.embed_passages([]).shape == (0, 384)
    assert np.isfinite(embedder.embed_query("")).all()
