"""Drift between rows and points is found in both directions, and repaired; what is in order is not accused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from sqlalchemy import text

from core.adapters.qdrant import QdrantIndex
from core.domain.ids import new_id
from core.services import drift as drift_module
from core.services.drift import Drift, find_drift, repair
from core.services.project import sweep_projections
from deploy.migrations.run import upgrade
from tests.contracts.index_places import Endpoint
from tests.doubles.pipeline import Pipeline, make_pipeline


@pytest.fixture
def line(
    new_database: Callable[[], str], qdrant_endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Pipeline]:
    monkeypatch.setattr(drift_module, "_PAUSE", 0.0)
    url, prefix = new_database(), f"d{new_id().hex}"
    upgrade(url)
    index = QdrantIndex(qdrant_endpoint.url, qdrant_endpoint.api_key)
    pipeline = make_pipeline(url, index, prefix)
    for user in ("ann", "bob"):
        turns = [{"role": "user", "content": f"{user} likes thing {n}"} for n in range(4)]
        pipeline.add(turns, user=user, infer=False)
    pipeline.drain_all()
    yield pipeline
    for name in index.names():
        if name.startswith(prefix):
            index.drop(name)
    pipeline.database.close()
    index.close()


def look(line: Pipeline, sample: int | None = None) -> Drift:
    found = find_drift(line.database, line.runtime.index, prefix(line), sample=sample)
    assert found is not None
    return found


def prefix(line: Pipeline) -> str:
    return line.runtime.collections.current().active.rpartition("_")[0]


def test_an_index_in_order_is_not_accused(line: Pipeline) -> None:
    found = look(line)
    assert not found.found
    assert (found.rows, found.points) == (8, 8)


def test_every_kind_of_drift_is_found_and_repaired(line: Pipeline) -> None:
    """A lost point, an old text, a stale context word, a point of no row, one of no project, a lost collection."""
    index, rows = line.runtime.index, line.memories()
    active = line.runtime.collections.current().active
    points = index.fetch(active, [row.id for row in rows])
    index.delete([active], [rows[0].id])
    old_text = replace(points[rows[1].id], bm25=points[rows[5].id].bm25)
    old_context = replace(points[rows[2].id], bm25_ctx=points[rows[6].id].bm25_ctx)
    old_times = replace(points[rows[3].id], payload={**points[rows[3].id].payload, "updated_at": 1})
    old_vector = replace(points[rows[4].id], dense=points[rows[7].id].dense)
    ghost, stranger = replace(points[rows[5].id], id=new_id()), replace(points[rows[5].id], id=new_id(), payload={})
    index.upsert([active], [old_text, old_context, old_times, old_vector, ghost, stranger])
    index.ensure(f"{prefix(line)}_lost", len(list(ghost.dense)))
    found = look(line)
    assert found.missing == [(line.project, rows[0].id)]
    assert set(found.differing) == {(line.project, row.id) for row in rows[1:5]}
    assert set(found.extra) == {(line.project, ghost.id), (None, stranger.id)}
    assert found.left_over == [f"{prefix(line)}_lost"]
    assert repair(line.database, index, found) == 6
    sweep_projections(line.runtime, older_than=-1)
    assert not look(line).found


def test_what_waits_for_its_projection_is_late_and_not_lost(line: Pipeline) -> None:
    row = line.memories()[0]
    line.runtime.index.delete([line.runtime.collections.current().active], [row.id])
    with line.database.transaction(line.project) as tx:
        tx.projections.request(line.project, [row.id])
    assert not look(line).found


def test_a_sample_looks_at_so_many(line: Pipeline) -> None:
    active = line.runtime.collections.current().active
    line.runtime.index.delete([active], [row.id for row in line.memories()])
    assert len(look(line, sample=3).missing) == 3


def test_nothing_is_looked_at_before_there_is_an_index(line: Pipeline) -> None:
    with line.database.operations() as tx:
        tx.connection.execute(text("DELETE FROM index_collections"))
    assert find_drift(line.database, line.runtime.index, "none") is None
