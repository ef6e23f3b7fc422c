"""Rebuilding the index beside a working system: the same points, the same answers, and no run in vain."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from core.adapters.qdrant import QdrantIndex
from core.domain.ids import new_id
from core.domain.memory import Memory
from core.ports.database import Transaction
from core.ports.index import EmbedderConflict
from core.services import project as project_service
from core.services.change import Target
from core.services.collections import FRESH_SECONDS, CollectionRegistry
from core.services.delete_memory import delete_memory
from core.services.points import embedding_text
from core.services.project import sweep_projections
from core.services.reindex import Progress, ReindexRefused, _begin, _copy, abandon, reindex
from core.services.search import SearchQuery, search
from core.services.update_memory import Change, update_memory
from deploy.cli.main import app
from deploy.migrations.run import upgrade
from tests.chaos.check import assert_consistent
from tests.contracts.index_places import Endpoint
from tests.contracts.rebuild_place import BATCH, WORDS, OtherEmbedder, Place
from tests.doubles.fast import FastEmbedder
from tests.doubles.model_server import ModelServer
from tests.doubles.pipeline import Pipeline, make_pipeline


@pytest.fixture
def place(new_database: Callable[[], str], qdrant_endpoint: Endpoint) -> Iterator[Place]:
    """A database and collections of its own: there is one active collection in a database."""
    url, prefix = new_database(), f"r{new_id().hex}"
    upgrade(url)
    index = QdrantIndex(qdrant_endpoint.url, qdrant_endpoint.api_key)
    line = make_pipeline(url, index, prefix)
    yield Place(line, prefix, qdrant_endpoint, url)
    for name in index.names():
        if name.startswith(prefix):
            index.drop(name)
    line.database.close()
    index.close()


@contextmanager
def meanwhile(work: Callable[[int], None]) -> Iterator[None]:
    """Calls work(0), work(1) … in a thread until the block ends; what it raises fails the test."""
    ending, faults = threading.Event(), []

    def run() -> None:
        for number in itertools.count():
            if ending.is_set():
                return
            try:
                work(number)
            except Exception as error:  # noqa: BLE001 - handed to the test
                faults.append(error)
                return

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join(30)
    assert faults == []


def writer(place: Place) -> Callable[[int], None]:
    """Adds, changes and deletes, one after the other; every third change hits an old row."""
    line, mine = place.line, [row.id for row in place.line.memories()]

    def write(number: int) -> None:
        line.add([{"role": "user", "content": f"late {number}: I like tea {number}"}], user="ann", infer=False)
        line.drain()
        update_memory(line.runtime, Target(line.project, mine[number % len(mine)]), Change(text=f"changed {number}"))
        if number % 3 == 2:
            delete_memory(line.runtime, Target(line.project, mine.pop(number % len(mine))))

    return write


def test_the_new_collection_has_exactly_the_points_of_the_old_one(place: Place) -> None:
    place.adds(60)
    place.adds(20, user="bob")
    old, before, answers = place.active(), place.points(place.active()), place.answers()
    assert any("bm25_ctx" in sparse for _, _, sparse in before.values())
    calls = place.line.runtime.models.embedder.calls  # type: ignore[attr-defined]
    name = reindex(place.rebuild())
    assert name != old
    assert place.active() == name
    assert place.points(name) == before == place.truth()
    assert place.line.runtime.models.embedder.calls == calls  # type: ignore[attr-defined]
    assert place.told[-2].phase == "switch"
    wait_stale()
    assert place.answers() == answers
    with place.endpoint.http() as http:
        assert http.get(f"/collections/{old}").status_code == 404


def wait_stale() -> None:
    """The registry's view may be as old as this."""
    threading.Event().wait(FRESH_SECONDS + 0.1)


def searcher(place: Place, user: str) -> Callable[[int], None]:
    """Asks for what nobody changes: the best answer never differs, and is never missing (its score may differ:
    how rare a word is depends on what else the project says)."""

    def found(word: str) -> UUID:
        query = SearchQuery(place.line.project, word, {"user_id": user}, place.line.runtime.clock.now())
        return search(place.line.runtime, query).hits[0].memory.id

    expected = [found(word) for word in WORDS]
    assert len(set(expected)) == len(WORDS)
    return lambda number: check(found(WORDS[number % 8]) == expected[number % 8])


def check(holds: bool) -> None:
    assert holds


def test_a_rebuild_under_writes_and_searches_misses_nothing_and_keeps_no_ghost(place: Place) -> None:
    place.adds(6 * BATCH)
    place.adds(8, user="bob")
    with meanwhile(writer(place)), meanwhile(searcher(place, "bob")):
        name = reindex(place.rebuild(grace=FRESH_SECONDS + 0.3))
    sweep_projections(place.line.runtime, older_than=-1)
    assert place.points(name) == place.truth()
    assert_consistent(place.line.database, place.line.runtime.index, name)


def test_a_change_between_reading_and_writing_a_batch_is_not_overwritten(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worst moments: a changed row, a row that is gone, and a neighbour that changes the words around."""
    place.adds(6)
    line = place.line
    rows = line.memories()
    upsert, overtaken = QdrantIndex.upsert, []

    def overtaking(self: QdrantIndex, collections: Any, points: Any) -> None:
        if not overtaken and len(points) == 6:
            overtaken.append(True)
            update_memory(line.runtime, Target(line.project, rows[0].id), Change(text="other words altogether"))
            delete_memory(line.runtime, Target(line.project, rows[5].id))
        upsert(self, collections, points)

    monkeypatch.setattr(QdrantIndex, "upsert", overtaking)
    name = reindex(place.rebuild())
    assert overtaken
    assert place.points(name) == place.truth()
    assert str(rows[5].id) not in place.points(name)


class Killed(BaseException):
    """Stands for the end of the process: no handler of the code under test catches it."""


@pytest.mark.parametrize("re_embed", [False, True])
def test_a_run_that_is_killed_is_taken_up_where_it_stopped(place: Place, re_embed: bool) -> None:
    place.adds(3 * BATCH)
    embedder = OtherEmbedder() if re_embed else None

    def die(progress: Progress) -> None:
        if progress.done == 2 * BATCH:
            raise Killed

    with pytest.raises(Killed):
        reindex(place.rebuild(tell=die, embedder=embedder))
    old = place.active()
    place.line.add("added while nobody rebuilt", infer=False)
    place.line.drain_all()
    name = reindex(place.rebuild(embedder=embedder))
    assert place.told[0].done == 2 * BATCH
    assert old != name == place.active()
    if embedder is not None:
        assert embedder.passages == 3 * BATCH + 1  # nothing was embedded twice
    assert place.points(name) == place.truth()


def test_two_rebuilds_do_not_run_at_once_and_one_can_be_given_up(place: Place) -> None:
    place.adds(4)

    def second(progress: Progress) -> None:
        if progress.phase == "copy":
            for refused in (reindex, abandon):
                with pytest.raises(ReindexRefused):
                    refused(place.rebuild())
            raise Killed

    with pytest.raises(Killed):
        reindex(place.rebuild(tell=second))
    with pytest.raises(ReindexRefused, match="was stopped after 0"):
        reindex(place.rebuild(embedder=OtherEmbedder()))
    assert abandon(place.rebuild())
    assert not abandon(place.rebuild())
    assert set(place.points(place.active())) == {str(row.id) for row in place.line.memories()}


def switched_to(place: Place, embedder: FastEmbedder) -> Pipeline:
    """The same system with another embedder configured, as after a restart."""
    runtime = place.line.runtime
    registry = CollectionRegistry(place.line.database, runtime.index, embedder, place.prefix)
    models = replace(runtime.models, embedder=embedder)
    return replace(place.line, runtime=replace(runtime, collections=registry, models=models), workers=[])


def test_re_embedding_moves_everybody_at_the_switch(place: Place) -> None:
    place.adds(BATCH + 20)
    embedder = OtherEmbedder()
    after = switched_to(place, embedder)
    with pytest.raises(EmbedderConflict, match=r"fast.*48|48.*fast"):
        after.runtime.collections.current()
    with meanwhile(writer_until_conflict(place)):
        name = reindex(place.rebuild(embedder=embedder))
    wait_stale()
    with pytest.raises(EmbedderConflict):
        place.line.runtime.collections.current()
    assert after.runtime.collections.current().active == name
    after.drain_all()
    sweep_projections(after.runtime, older_than=-1)
    assert place.points(name) == place.truth()
    for row in place.line.memories():
        [memory] = place.line.stored([row.id])
        assert np.allclose(vector(memory), embedder.embed_passages([embedding_text(memory)])[0], atol=1e-6)
    query = SearchQuery(place.line.project, "orchids", {"user_id": "ann"}, after.runtime.clock.now())
    assert "orchids" in search(after.runtime, query).hits[0].memory.memory


def test_a_projector_takes_nothing_away_that_the_rebuild_writes_meanwhile(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has seen no new vector of a memory; the rebuild makes one, and writes the point, before it goes on."""
    place.adds(BATCH)
    rebuild = place.rebuild(embedder=OtherEmbedder())
    row = _begin(rebuild)
    pairs = [(place.line.project, memory.id) for memory in place.line.memories()]
    really = project_service.staged

    def slowly(tx: Transaction, project_id: UUID, rows: Sequence[Memory]) -> list[Memory]:
        found = really(tx, project_id, rows)
        monkeypatch.setattr(project_service, "staged", really)
        _copy(rebuild, row.name, pairs)
        return found

    monkeypatch.setattr(project_service, "staged", slowly)
    ids = [memory_id for _, memory_id in pairs]
    with place.line.database.transaction(place.line.project) as tx:
        tx.projections.request(place.line.project, ids)
    project_service.project(place.line.runtime, place.line.project, ids)
    assert set(place.points(row.name)) == {str(id_) for id_ in ids}


def vector(memory: Memory) -> Any:
    return np.frombuffer(memory.embedding or b"", dtype="<f4")


def writer_until_conflict(place: Place) -> Callable[[int], None]:
    """Writes as ever; from the switch on, what has the old embedder stores nothing more."""
    write, over = writer(place), threading.Event()

    def work(number: int) -> None:
        if over.is_set():
            over.wait(0.05)
            return
        try:
            write(number)
        except EmbedderConflict:
            over.set()

    return work


def test_a_commit_with_the_old_embedder_after_the_switch_is_rolled_back_and_done_by_the_new(place: Place) -> None:
    place.adds(4)
    place.line.runtime.collections.current()
    event = place.line.add("I play the violin", infer=False)
    embedder = OtherEmbedder(dims=FastEmbedder().dims)  # another model of the same size
    reindex(place.rebuild(embedder=embedder))
    place.line.drain()
    row = place.line.event(event)
    assert (row.state, row.error["code"]) == ("retrying", "embedder_conflict")
    with place.line.database.operations() as tx:
        tx.connection.execute(text("UPDATE events SET due_at = now() WHERE id = :id"), {"id": event})
    after = switched_to(place, embedder)
    after.drain_all()
    assert after.event(event).state == "projected"
    [memory] = after.stored([UUID(after.event(event).results[0]["id"])])
    assert np.allclose(vector(memory), embedder.embed_passages(["I play the violin"])[0], atol=1e-6)


def test_staged_vectors_go_with_the_memory_that_is_purged(place: Place) -> None:
    place.adds(4)

    def die(progress: Progress) -> None:
        if progress.done:
            raise Killed

    with pytest.raises(Killed):
        reindex(place.rebuild(embedder=OtherEmbedder(), tell=die))
    row = place.line.memories()[0]
    assert place.line.count("staged_embeddings") == 4
    with place.line.database.operations() as tx:
        tx.connection.execute(text("DELETE FROM memories WHERE id = :id"), {"id": row.id})
    assert place.line.count("staged_embeddings") == 3


@pytest.mark.long
def test_the_command_moves_to_the_endpoint_that_is_configured(place: Place) -> None:
    place.adds(20)
    with ModelServer(dims=8) as server:
        configured = {
            "MEMLANE_DATABASE_URL": place.url,
            "MEMLANE_QDRANT_URL": place.endpoint.url,
            "MEMLANE_QDRANT_API_KEY": place.endpoint.api_key,
            "MEMLANE_COLLECTION": place.prefix,
            "MEMLANE_EMBEDDER_BASE_URL": server.url,
            "MEMLANE_EMBEDDER_MODEL": "double",
        }
        ran = CliRunner().invoke(app, ["reindex", "--re-embed"], env=configured)
        assert ran.exit_code == 0, ran.exception
        assert sum(len(request.body["input"]) for request in server.embeddings.requests) >= 20
    with place.line.database.operations() as tx:
        [active] = tx.ops.collections().values()
    assert (active.embedding_model, active.dims) == ("double", 8)
    assert place.points(active.name) == place.truth()
