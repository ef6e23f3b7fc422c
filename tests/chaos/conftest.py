"""The usual cluster and load; a module that needs others has its own under the same names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.chaos.cluster import Cluster, cluster
from tests.chaos.load import Load


@pytest.fixture(scope="module")
def place() -> Iterator[Cluster]:
    with cluster() as running:
        yield running


@pytest.fixture
def load(place: Cluster) -> Iterator[Load]:
    made = Load(place)
    yield made
    made.close()
    place.end_parts()
