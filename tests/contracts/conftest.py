"""Fixtures of the contract suites."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import text

from core.adapters.qdrant import QdrantIndex
from core.domain.ids import new_id
from deploy.migrations.run import upgrade
from tests.contracts.filter_world import IndexPlace, place_in
from tests.contracts.index_places import Endpoint, endpoint, quick_folder
from tests.contracts.index_points import DIMS
from tests.doubles.pipeline import Pipeline, make_pipeline

QDRANT_URL = os.environ.get("QDRANT_URL")
INDEX_PLACES = ["endpoint", pytest.param("server", marks=pytest.mark.needs("qdrant"))]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `index_place` runs once for each place there is."""
    if "index_place" in metafunc.fixturenames:
        metafunc.parametrize("index_place", INDEX_PLACES, scope="session")


@pytest.fixture(scope="session")
def index(index_place: str, request: pytest.FixtureRequest) -> QdrantIndex:
    found = request.getfixturevalue(f"index_on_{index_place}")
    assert isinstance(found, QdrantIndex)
    return found


@pytest.fixture(scope="session")
def collection(index: QdrantIndex) -> Iterator[str]:
    """One collection for all tests of a place, who keep apart by a fresh project: making one syncs many files."""
    name = f"contract_{new_id().hex}"
    index.ensure(name, DIMS)
    yield name
    index.drop(name)


@pytest.fixture(scope="session")
def filter_place(index: QdrantIndex) -> Iterator[IndexPlace]:
    with place_in(index) as place:
        yield place


@pytest.fixture(scope="session")
def qdrant_endpoint() -> Iterator[Endpoint]:
    with quick_folder() as folder, endpoint(folder / "data") as running:
        yield running


@pytest.fixture(scope="session")
def index_on_server() -> Iterator[QdrantIndex]:
    assert QDRANT_URL
    index = QdrantIndex(QDRANT_URL, os.environ.get("QDRANT_API_KEY"), timeout=30)
    yield index
    index.close()


@pytest.fixture(scope="session")
def index_on_endpoint(qdrant_endpoint: Endpoint) -> Iterator[QdrantIndex]:
    index = qdrant_endpoint.index()
    yield index
    index.close()


@pytest.fixture(scope="module")
def own_place(new_database: Callable[[], str], qdrant_endpoint: Endpoint) -> Iterator[tuple[str, QdrantIndex, str]]:
    """A migrated database and a collection of the module's own, for what looks across projects."""
    url, prefix, index = new_database(), f"t{new_id().hex}", qdrant_endpoint.index()
    upgrade(url)
    yield url, index, prefix
    index.drop(f"{prefix}_1")
    index.close()


@pytest.fixture
def pipeline(own_place: tuple[str, QdrantIndex, str]) -> Iterator[Pipeline]:
    """A project of the test's own there; what it leaves to be done is forgotten with it."""
    url, index, prefix = own_place
    made = make_pipeline(url, index, prefix)
    yield made
    with made.database.operations() as tx:
        for table in ("events", "categorizations", "syntheses", "memories"):
            tx.connection.execute(text(f"DELETE FROM {table} WHERE project_id = :p"), {"p": made.project})
    made.database.close()
