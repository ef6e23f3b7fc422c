"""An event that has lost a worker runs alone: nobody else's event counts as begun while it does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

import pytest
from sqlalchemy import text

from core.adapters.qdrant import QdrantIndex
from core.domain.ids import new_id
from core.domain.memory import Candidate
from core.ports.extraction import ExtractionRequest
from core.services.drain import drain
from deploy.migrations.run import upgrade
from tests.contracts.index_places import Endpoint
from tests.doubles.pipeline import Pipeline, make_pipeline
from tests.waiting import wait_until


@pytest.fixture
def line(new_database: Callable[[], str], qdrant_endpoint: Endpoint) -> Iterator[Pipeline]:
    """Claims look across projects: a database of the test's own."""
    url, prefix = new_database(), f"t{new_id().hex}"
    upgrade(url)
    index = QdrantIndex(qdrant_endpoint.url, qdrant_endpoint.api_key)
    pipeline = make_pipeline(url, index, prefix)
    yield pipeline
    index.drop(f"{prefix}_1")
    index.close()
    pipeline.database.close()


def test_what_waits_for_a_suspect_is_not_begun_and_counts_no_crash(line: Pipeline) -> None:
    inside, leave = threading.Event(), threading.Event()

    def work(request: ExtractionRequest) -> Sequence[Candidate]:
        if request.turns[0].text == "suspect":
            inside.set()
            assert leave.wait(20)
        return [Candidate(request.turns[0].text)]

    line.extractor.script = work
    suspect = line.add("suspect", user="ann")
    with line.database.operations() as tx:
        tx.connection.execute(text("UPDATE events SET crashes = 1 WHERE id = :id"), {"id": suspect})
    executor = line.executor()
    slots = [threading.Thread(target=drain, args=(executor,)) for _ in range(2)]
    slots[0].start()
    assert inside.wait(20)
    neighbour = line.add("neighbour", user="bob")
    slots[1].start()
    wait_until(lambda: executor.worker.busy() == 2, what="the second slot holds the neighbour's lane")
    assert (line.event(suspect).state, line.event(suspect).crashes) == ("claimed", 2)
    for _ in range(5):  # a process that died now would count these crashes
        slots[1].join(0.05)
        assert (line.event(neighbour).state, line.event(neighbour).crashes) == ("accepted", 0)
    leave.set()
    for slot in slots:
        slot.join(20)
        assert not slot.is_alive()
    assert {line.event(event).state for event in (suspect, neighbour)} == {"projected"}
    assert {line.event(event).crashes for event in (suspect, neighbour)} <= {0, 1}
