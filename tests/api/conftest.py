"""Servers that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from core.adapters.qdrant import QdrantIndex
from tests.api.doubles import FewParts, echoing_app
from tests.api.serving import Server, serving
from tests.api.world import Caller, World, world
from tests.contracts.index_places import endpoint


@pytest.fixture(scope="package")
def parts() -> FewParts:
    return FewParts()


@pytest.fixture(scope="package")
def echo(parts: FewParts) -> Iterator[Server]:
    with serving(echoing_app(parts)) as server:
        yield server


@pytest.fixture(scope="package")
def qdrant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QdrantIndex]:
    with endpoint(tmp_path_factory.mktemp("qdrant") / "data") as running:
        index = running.index()
        yield index
        index.close()


@pytest.fixture(scope="package")
def api(new_database: Callable[[], str], qdrant: QdrantIndex) -> Iterator[World]:
    """The application on a database of its own, since draining looks across all projects."""
    from deploy.migrations.run import upgrade

    url = new_database()
    upgrade(url)
    with world(url, qdrant) as running:
        yield running


@pytest.fixture
def caller(api: World) -> Caller:
    return api.project()
