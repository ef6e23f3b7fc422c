"""Any order of requests, crashes, takeovers and outages, against a model in plain Python.

A crash is an exception that nothing catches at a crash point: transactions roll back, leases stay behind, and the
next worker has another name. After each step the table of memories is compared with the model; after each run
listing, history, index, events and entities are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import text

from core.domain.errors import MemlaneError
from core.domain.ids import new_id
from core.domain.paging import Window
from core.domain.scope import Scope
from core.domain.selection import Selection
from core.services.accept import Request, accept
from core.services.attempt import Executor
from core.services.change import Target
from core.services.change_batch import Item, delete_batch, update_batch
from core.services.delete_all import Deletion, delete_all
from core.services.delete_memory import delete_memory
from core.services.drain import drain
from core.services.erase import Whom, erase
from core.services.listing import ListQuery, list_memories
from core.services.project import sweep_projections
from core.services.read_memory import read_history
from core.services.retry_event import retry_event
from core.services.revert_memory import revert_memory
from core.services.runtime import Limits
from core.services.search import SearchQuery, search
from core.services.update_memory import Change, update_memory
from deploy.migrations.run import upgrade
from tests.contracts.dying import Armed, Died
from tests.contracts.index_places import Endpoint
from tests.contracts.stateful_model import MAX_CRASHES, Asked, Known, Model
from tests.contracts.test_ingest import MoodyIndex
from tests.doubles.pipeline import Pipeline, make_pipeline

SCOPES = {
    "ann": Scope(user_id="ann"),
    "bob": Scope(user_id="bob"),
    "cat": Scope(user_id="cat", run_id="r1"),  # erased from a lane that is not its own
}
LANES = st.sampled_from(sorted(SCOPES))
TEXTS = st.sampled_from([f"Nora likes {thing}" for thing in ("tea", "bread", "snow", "jazz")])
METADATA = st.sampled_from([{}, {"a": 1}, {"a": 2}])
PICKS = st.integers(0, 99)
IN_WORK = ("begin", "embed", "commit", "committed", "project", "projected")
OUTSIDE = ("begin", "embed", "committed")  # no transaction is open: another worker can take over


class Machine(RuleBasedStateMachine):
    """`place` is set by the test: the database, the index, and the prefix of its collection."""

    place: tuple[str, MoodyIndex, str]
    workers = count(1)

    def __init__(self) -> None:
        super().__init__()
        url, self.index, self.prefix = self.place
        self.index.refusing = False
        self.pipeline: Pipeline = make_pipeline(url, self.index, self.prefix, limits=Limits(max_crashes=MAX_CRASHES))
        self.crash = Armed()
        self.runtime = replace(self.pipeline.runtime, crash=self.crash)
        self.pipeline.runtime = self.runtime
        self.project = self.pipeline.project
        self.model = Model({lane: [] for lane in SCOPES})

    @initialize()
    def some_memories(self) -> None:
        for lane in SCOPES:
            for said in ("Nora likes tea", "Nora likes bread"):
                self.add(lane, said, {}, "")
        self.work()

    # --- requests -----------------------------------------------------------------------------------------------

    @rule(lane=LANES, said=TEXTS, metadata=METADATA, point=st.sampled_from(["", "", "", "accept", "accepted"]))
    def add(self, lane: str, said: str, metadata: dict[str, Any], point: str) -> None:
        payload = {"messages": [{"role": "user", "content": said}], "infer": False, "metadata": metadata}
        self.crash.arm(point, 1)
        try:
            event = accept(self.runtime, Request(self.project, SCOPES[lane], payload)).event_id
        except Died:
            if point == "accept":
                return  # nothing was committed, and nothing may be found later
            event = self._newest()
        self.crash.disarm()
        self.model.ask(lane, Asked(event, "ADD", said, metadata))
        self.model.known.add(lane)
        self.model.fresh.add(lane)

    @precondition(lambda self: self.model.memories)
    @rule(pick=PICKS, said=st.none() | TEXTS, metadata=METADATA)
    def update(self, pick: int, said: str | None, metadata: dict[str, Any]) -> None:
        memory = self._memory(pick)
        expected = self.model.change(memory, (said or memory.text, metadata))
        self._raises(expected, lambda: update_memory(self.runtime, self._target(memory), Change(said, metadata)))

    @precondition(lambda self: self.model.memories)
    @rule(pick=PICKS, version=st.integers(1, 4))
    def revert(self, pick: int, version: int) -> None:
        memory = self._memory(pick)
        expected = self.model.revert(memory, version)
        self._raises(expected, lambda: revert_memory(self.runtime, self._target(memory), version))

    @precondition(lambda self: self.model.memories)
    @rule(pick=PICKS)
    def delete(self, pick: int) -> None:
        memory = self._memory(pick)
        expected = self.model.delete(memory)
        self._raises(expected, lambda: delete_memory(self.runtime, self._target(memory)))

    @precondition(lambda self: self.model.memories)
    @rule(picks=st.lists(PICKS, min_size=1, max_size=3), said=st.lists(TEXTS, min_size=3, max_size=3))
    def update_some(self, picks: list[int], said: list[str]) -> None:
        memories = list({memory.id: memory for memory in map(self._memory, picks)}.values())
        expected = self.model.change_all([(m, (s, m.content[1])) for m, s in zip(memories, said, strict=False)])
        items = [Item(m.id, Change(s)) for m, s in zip(memories, said, strict=False)]
        self._raises(expected, lambda: update_batch(self.runtime, self.project, items))

    @precondition(lambda self: self.model.memories)
    @rule(picks=st.lists(PICKS, min_size=1, max_size=3))
    def delete_some(self, picks: list[int]) -> None:
        memories = list({memory.id: memory for memory in map(self._memory, picks)}.values())
        expected = self.model.delete(*memories)
        self._raises(expected, lambda: delete_batch(self.runtime, self.project, [m.id for m in memories]))

    @rule(lane=st.sampled_from(["ann", "bob"]))
    def delete_everything(self, lane: str) -> None:
        started = delete_all(self.runtime, Deletion(self.project, Selection({"user_id": lane})))
        assert started.deleted == len(self.model.alive(lane))
        self.model.delete(*self.model.alive(lane))
        self.model.ask(lane, Asked(started.event_id, "DELETE_ALL"))

    @rule(lane=LANES)
    def erase(self, lane: str) -> None:
        whom = Whom(self.project, "user", lane)
        if lane not in self.model.known:
            expected = None if lane in self.model.erased else "entity_not_found"
            self._raises(expected, lambda: erase(self.runtime, whom))
            return
        event = erase(self.runtime, whom).event_id
        self.model.erase(lane, Asked(event, "DELETE_USER"))

    @precondition(lambda self: self.model.failed)
    @rule(pick=PICKS)
    def retry(self, pick: int) -> None:
        number = pick % len(self.model.failed)
        event = self.model.failed[number][1].id
        expected = self.model.retry(number)
        self._raises(expected, lambda: retry_event(self.runtime, self.project, str(event)))

    # --- workers, and what befalls them -------------------------------------------------------------------------

    @rule()
    def work(self) -> None:
        drain(self._worker())
        self._sync()

    @rule(point=st.sampled_from(IN_WORK), number=st.integers(1, 3), later=st.booleans())
    def die_at_work(self, point: str, number: int, later: bool) -> None:
        if later:  # the leases of those who died before have run out
            self._time_passes()
        self.crash.arm(point, number)
        try:
            drain(self._worker())
        except Died:
            self._count_lost()
        self.crash.disarm()
        self._sync()

    @rule(point=st.sampled_from(["begin", "embed", "commit"]))
    def die_again_and_again(self, point: str) -> None:
        """What kills worker after worker is given up."""
        for _ in range(MAX_CRASHES):
            self.die_at_work(point, 1, True)
        self._time_passes()
        self.work()

    @rule(point=st.sampled_from(OUTSIDE), number=st.integers(1, 2))
    def be_overtaken(self, point: str, number: int) -> None:
        """A worker stops for longer than its lease; another does its work; then it goes on."""

        def overtake() -> None:
            self._count_lost()
            self._time_passes()
            drain(self._worker())

        self.crash.arm(point, number, overtake)
        drain(self._worker())
        self.crash.disarm()
        self._sync()

    @rule()
    def time_passes(self) -> None:
        self.index.refusing = False
        self._time_passes()

    @rule()
    def sweep(self) -> None:
        if not self.index.refusing:
            sweep_projections(self.runtime, older_than=-1)

    @precondition(lambda self: not self.index.refusing)
    @rule()
    def the_index_goes_away(self) -> None:
        """Until time passes."""
        self.index.refusing = True

    # --- what must hold -----------------------------------------------------------------------------------------

    @invariant()
    def the_memories_are_the_models(self) -> None:
        rows = {
            m.id: (m.user_id, m.memory, m.metadata, m.version) for m in self.pipeline.memories("state <> 'deleted'")
        }
        assert rows == {m.id: (m.lane, *m.content, m.version) for m in self.model.alive()}

    def teardown(self) -> None:
        try:
            self._settle()
            self._compare()
        finally:
            self.pipeline.database.close()

    def _settle(self) -> None:
        self.index.refusing = False
        for _ in range(20):
            self._time_passes()
            drain(self._worker())
            self._sync()
            if not any(self.model.lanes.values()):
                break
        sweep_projections(self.runtime, older_than=-1)
        assert not any(self.model.lanes.values()), "an event never ended"
        self.the_memories_are_the_models()

    def _compare(self) -> None:
        query = text("SELECT id, state FROM events WHERE project_id = :p ORDER BY created_at, id")
        with self.pipeline.database.operations() as tx:
            states = {row.id: row.state for row in tx.connection.execute(query, {"p": self.project})}
        assert states.keys() == set(self.model.accepted)
        assert set(states.values()) <= {"projected", "failed"}
        for lane in SCOPES:
            listed = list_memories(self.pipeline.database, self._query(lane)).items
            assert {m.id: m.memory for m in listed} == {m.id: m.text for m in self.model.alive(lane)}
            found = search(self.runtime, self._search(lane)).hits
            assert {hit.memory.id for hit in found} == {m.id for m in self.model.alive(lane)}
        for memory in self.model.memories.values():
            assert self._told(memory) == _expected_history(memory)
        assert self.pipeline.indexed() == {m.id for m in self.model.alive()}
        assert self.pipeline.count("projections") == 0
        with self.pipeline.database.operations() as tx:
            query = text("SELECT DISTINCT memory_id FROM entity_links WHERE project_id = :p")
            linked = set(tx.connection.execute(query, {"p": self.project}).scalars())
        assert linked <= {m.id for m in self.model.alive()}

    # --- helpers ------------------------------------------------------------------------------------------------

    def _sync(self) -> None:
        """Tell the model which requests have had their effect; in each lane in order, and the order is checked."""
        for lane, queue in self.model.lanes.items():
            waiting: list[Asked] = []
            done: list[Asked] = []
            for asked in queue:
                row = self.pipeline.event(asked.id)
                if row.state in ("committed", "projected"):
                    assert not waiting or asked.kind == "DELETE_USER", "a later request of the lane was done before"
                    self.model.ended(lane, asked, row.results)
                    done.append(asked)
                elif row.state == "failed":
                    assert row.error["code"] == ("erased" if asked.erased else "worker_lost")
                    assert asked.erased or asked.lost >= MAX_CRASHES
                    assert asked.kind == "ADD" or asked.erased, "a deletion was given up"
                    if asked.kind == "ADD":
                        self.model.failed.append((lane, asked))
                else:
                    waiting.append(asked)
            self.model.lanes[lane] = waiting
            for asked in done:
                self._after_erasure(lane, asked)

    def _after_erasure(self, lane: str, asked: Asked) -> None:
        """An entity is forgotten with its erasure, unless something was accepted for it since."""
        more = any(other.kind == "DELETE_USER" and other is not asked for other in self.model.lanes[lane])
        if asked.kind == "DELETE_USER" and not more and lane not in self.model.fresh:
            self.model.known.discard(lane)

    def _count_lost(self) -> None:
        for queue in self.model.lanes.values():
            for asked in queue:
                asked.lost += self.pipeline.event(asked.id).state == "claimed"

    def _worker(self) -> Executor:
        executor = self.pipeline.executor(slots=1)
        executor.worker.name = f"worker-{next(self.workers)}"
        return executor

    def _time_passes(self) -> None:
        """Leases of the dead run out, and what waits for its time is due."""
        with self.pipeline.database.operations() as tx:
            tx.connection.execute(text("UPDATE leases SET expires_at = now() - interval '1 s'"))
            tx.connection.execute(text("UPDATE events SET due_at = now() WHERE due_at > now()"))

    def _newest(self) -> UUID:
        query = text("SELECT id FROM events WHERE project_id = :p ORDER BY created_at DESC, id DESC LIMIT 1")
        with self.pipeline.database.operations() as tx:
            return UUID(str(tx.connection.execute(query, {"p": self.project}).scalar_one()))

    def _memory(self, pick: int) -> Known:
        return list(self.model.memories.values())[pick % len(self.model.memories)]

    def _target(self, memory: Known) -> Target:
        return Target(self.project, memory.id)

    def _query(self, lane: str) -> ListQuery:
        filters = {name: value for name, value in SCOPES[lane].as_dict().items() if value}
        return ListQuery(self.project, filters, self.runtime.clock.now(), window=Window(1, 200))

    def _search(self, lane: str) -> SearchQuery:
        query = self._query(lane)
        return SearchQuery(self.project, "What does Nora like?", query.filters, query.now, top_k=50, threshold=0)

    def _raises(self, code: str | None, call: Callable[[], object]) -> None:
        if code is None:
            call()
            return
        with pytest.raises(MemlaneError) as refused:
            call()
        assert refused.value.code == code

    def _told(self, memory: Known) -> list[tuple[str, int, str | None]]:
        try:
            entries = read_history(self.pipeline.database, self.project, memory.id)
        except MemlaneError:
            return []
        return [(entry.event, entry.version, entry.new_memory) for entry in entries]


def _expected_history(memory: Known) -> list[tuple[str, int, str | None]]:
    if memory.purged:
        return []
    told: list[tuple[str, int, str | None]] = [
        ("ADD" if version == 1 else "UPDATE", version, content[0]) for version, content in memory.versions.items()
    ]
    return told if memory.alive else [*told, ("DELETE", memory.version + 1, None)]


@pytest.fixture(scope="module")
def place(new_database: Callable[[], str], qdrant_endpoint: Endpoint) -> Iterator[tuple[str, MoodyIndex, str]]:
    url, prefix = new_database(), f"t{new_id().hex}"
    upgrade(url)
    index = MoodyIndex(qdrant_endpoint.url, qdrant_endpoint.api_key)
    yield url, index, prefix
    index.refusing = False
    index.drop(f"{prefix}_1")
    index.close()


@pytest.mark.parametrize(("runs", "steps"), [(4, 25), pytest.param(10, 50, marks=pytest.mark.long)])
def test_any_order_of_requests_and_faults_ends_as_the_model_says(
    place: tuple[str, MoodyIndex, str], runs: int, steps: int
) -> None:
    Machine.place = place
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=runs,
            stateful_step_count=steps,
            deadline=None,
            derandomize=True,
            phases=(Phase.generate,),  # to shrink a failure takes many minutes: by hand, where it is needed
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
