"""The pipeline on real PostgreSQL and a real index: what an event leaves behind, whatever happens on its way."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.adapters.qdrant import QdrantIndex
from core.adapters.sql import control
from core.adapters.sql.statement import Statement
from core.domain.errors import MemlaneError
from core.domain.ids import new_id
from core.domain.memory import Candidate, Supersede
from core.domain.scope import Scope
from core.ports.extraction import ExtractionRequest
from core.ports.index import IndexPoint, IndexUnavailable
from core.ports.models import Matrix, ModelError
from core.services.accept import Request, accept
from core.services.drain import drain
from core.services.pressure import Pressure
from core.services.project import sweep_projections
from core.services.runtime import Limits
from deploy.migrations.run import upgrade
from tests.doubles.fast import FastEmbedder
from tests.doubles.pipeline import Pipeline, make_pipeline


class MoodyIndex(QdrantIndex):
    """A real index that refuses upserts while `refusing`, after applying `apply_first` points of them."""

    refusing = False
    apply_first = 0

    def upsert(self, collections: Sequence[str], points: Sequence[IndexPoint]) -> None:
        if self.refusing:
            super().upsert(collections, points[: self.apply_first])
            raise IndexUnavailable("refused")
        super().upsert(collections, points)


class MoodyEmbedder(FastEmbedder):
    """Fails at texts that contain a word; `down` fails at all."""

    bad_word = "\0"
    down = False

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if self.down or any(self.bad_word in text for text in texts):
            raise ModelError("500 from the provider", about="provider", code="embedder_unavailable")
        return super().embed_passages(texts)


@pytest.fixture(scope="module")
def place(new_database: Callable[[], str], qdrant_endpoint: Any) -> Iterator[tuple[str, MoodyIndex, str]]:
    """One database and one collection for the module; each test has a project of its own."""
    url, prefix = new_database(), f"t{new_id().hex}"
    upgrade(url)
    index = MoodyIndex(qdrant_endpoint.url, qdrant_endpoint.api_key)
    yield url, index, prefix
    index.drop(f"{prefix}_1")
    index.close()


@pytest.fixture
def line(place: tuple[str, MoodyIndex, str]) -> Iterator[Pipeline]:
    url, index, prefix = place
    index.refusing, index.apply_first = False, 0
    pipeline = make_pipeline(url, index, prefix, MoodyEmbedder(), Limits(input_age=600))
    yield pipeline
    with pipeline.database.operations() as tx:  # claims look across projects: leave nothing open
        tx.connection.execute(text("DELETE FROM events WHERE project_id = :p"), {"p": pipeline.project})
    pipeline.database.close()


def make_due(line: Pipeline) -> None:
    with line.database.operations() as tx:
        tx.connection.execute(text("UPDATE events SET due_at = now() WHERE state IN ('retrying', 'committed')"))


def outcomes(line: Pipeline, event: UUID) -> list[str]:
    return [outcome["outcome"] for outcome in line.event(event).outcomes]


def test_an_add_is_stored_indexed_and_told(line: Pipeline) -> None:
    event = line.add("I like tea")
    assert line.event(event).state == "accepted"
    assert line.drain() == 1
    row = line.event(event)
    assert row.state == "projected"
    (memory,) = line.memories()
    assert row.results[0]["id"] == str(memory.id)
    assert row.results[0]["data"]["memory"] == "I like tea"
    assert line.indexed() == {memory.id}
    assert line.count("projections") == 0
    assert line.count("history") == 1
    assert row.crashes == 0


def test_the_same_text_again_is_told_as_a_duplicate(line: Pipeline) -> None:
    line.add("I like tea")
    again = line.add("  I like   tea ")
    line.drain()
    assert len(line.memories()) == 1
    assert outcomes(line, again) == ["duplicate_of"]
    assert line.event(again).reason == "all_duplicates"
    assert line.event(again).outcomes[0]["memory_id"] == str(line.memories()[0].id)


@pytest.mark.parametrize(
    "variant", ["i prefer tea over coffee", "I prefer tea over coffee!", "I prefer tea over coffee. "]
)
def test_other_punctuation_or_case_is_no_new_fact(line: Pipeline, variant: str) -> None:
    line.add("I prefer tea over coffee")
    line.drain()
    line.add(variant)
    line.drain()
    assert [memory.memory for memory in line.memories()] == ["I prefer tea over coffee"]


def test_verbatim_keeps_user_and_assistant_turns_and_drops_system(line: Pipeline) -> None:
    turns = [
        {"role": "system", "content": "You are helpful"},
        {"role": "user", "content": "Hello, I am Ann"},
        {"role": "assistant", "content": "Hello Ann"},
    ]
    scope = Scope(user_id="ann", agent_id="bot")
    event = line.add(turns, infer=False, scope=scope)
    line.drain()
    assert [memory.memory for memory in line.memories()] == ["Hello, I am Ann", "Hello Ann"]
    assert {(memory.user_id, memory.agent_id) for memory in line.memories()} == {("ann", "bot")}
    assert len(line.event(event).results) == 2


def test_inferred_facts_go_to_the_side_that_said_them(line: Pipeline) -> None:
    line.extractor.script = lambda request: [
        Candidate("User skis", attributed_to="user", source_turns=(0,)),
        Candidate("Bot recommended Porto", attributed_to="assistant", role="assistant", source_turns=(1,)),
    ]
    turns = [{"role": "user", "content": "I ski"}, {"role": "assistant", "content": "Try Porto"}]
    line.add(turns, scope=Scope(user_id="ann", agent_id="bot", run_id="r"))
    line.drain()
    found = {(m.memory, m.user_id, m.agent_id, m.run_id) for m in line.memories()}
    assert found == {("User skis", "ann", None, "r"), ("Bot recommended Porto", None, "bot", "r")}


def test_eight_parallel_adds_of_one_fact_make_one_row_and_of_eight_facts_eight(line: Pipeline) -> None:
    executor = line.executor(slots=8)
    for n in range(8):
        line.add("I collect stamps", scope=Scope(user_id="ann", app_id=f"app-{n}"), infer=False)
        line.add("I collect stamps", user="bob")
        line.add(f"Fact number {n}", user="cid")
    threads = [threading.Thread(target=drain, args=(executor,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = line.memories()
    assert len([row for row in rows if row.user_id == "bob"]) == 1
    assert len([row for row in rows if row.user_id == "cid"]) == 8
    assert len([row for row in rows if row.user_id == "ann"]) == 8
    assert line.indexed() == {row.id for row in rows}


def test_c16_an_event_is_not_succeeded_before_the_index_took_all_of_its_points(line: Pipeline) -> None:
    index = line.runtime.index
    assert isinstance(index, MoodyIndex)
    index.refusing, index.apply_first = True, 1
    event = line.add([{"role": "user", "content": f"Fact {n}"} for n in range(3)], infer=False)
    line.drain()
    assert line.event(event).state == "committed"
    index.refusing = False
    make_due(line)
    line.drain()
    assert line.event(event).state == "projected"
    assert line.indexed() == {row.id for row in line.memories()}
    assert len(line.indexed()) == 3
    assert line.count("history") == 3


def test_a_projection_that_was_missed_is_made_up_for_by_the_sweep(line: Pipeline) -> None:
    line.add("I like tea")
    line.drain()
    (memory,) = line.memories()
    line.runtime.index.delete([line.runtime.collections.current().active], [memory.id])
    with line.database.transaction(line.project) as tx:
        tx.projections.request(line.project, [memory.id])
    assert sweep_projections(line.runtime, older_than=0.0) == 1
    assert line.indexed() == {memory.id}
    assert line.count("projections") == 0


def test_a_text_that_the_embedder_refuses_is_told_and_its_siblings_are_kept(line: Pipeline) -> None:
    embedder = line.runtime.models.embedder
    assert isinstance(embedder, MoodyEmbedder)
    embedder.bad_word = "penicillin"
    turns = [{"role": "user", "content": "I'm allergic to penicillin"}, {"role": "user", "content": "I ski"}]
    event = line.add(turns)
    for _ in range(3):
        line.drain()
        make_due(line)
    assert line.event(event).state == "projected"
    assert sorted(outcomes(line, event)) == ["added", "failed"]
    assert [memory.memory for memory in line.memories()] == ["I ski"]
    (failed,) = (outcome for outcome in line.event(event).outcomes if outcome["outcome"] == "failed")
    assert (failed["code"], failed["memory"]) == ("embedding_failed", "I'm allergic to penicillin")


def test_an_outage_is_retried_without_an_end_and_without_a_crash(line: Pipeline) -> None:
    embedder = line.runtime.models.embedder
    assert isinstance(embedder, MoodyEmbedder)
    embedder.down = True
    event = line.add("I like tea")
    for _ in range(5):
        line.drain()
        assert line.event(event).state == "retrying"
        assert line.event(event).error["code"] == "embedder_unavailable"
        make_due(line)
    embedder.down = False
    line.drain()
    row = line.event(event)
    assert (row.state, row.crashes, row.error) == ("projected", 0, None)


def test_an_event_that_lost_its_worker_three_times_fails_as_worker_lost(line: Pipeline) -> None:
    event = line.add("I like tea")
    with line.database.operations() as tx:
        tx.connection.execute(text("UPDATE events SET crashes = 3 WHERE id = :id"), {"id": event})
    line.drain()
    row = line.event(event)
    assert row.state == "failed"
    assert row.error["code"] == "worker_lost"
    assert line.memories() == []


def test_a_superseded_memory_is_closed_and_linked(line: Pipeline) -> None:
    line.add("I live in Lyon")
    line.drain()
    (old,) = line.memories()

    def moved(request: ExtractionRequest) -> list[Candidate]:
        at = [shown.id for shown in request.shown].index(old.id)
        return [Candidate("User moved to Porto", supersedes=(Supersede(at, "changed"),), source_turns=(0,))]

    line.extractor.script = moved
    event = line.add("I moved to Porto last week")
    line.drain()
    (new,) = line.memories()
    (closed,) = line.memories("state = 'superseded'")
    assert (closed.id, closed.replaced_by, closed.replaced_kind) == (old.id, new.id, "changed")
    assert closed.valid_to is not None
    assert "superseded" in outcomes(line, event)


def test_context_shows_the_lane_and_what_is_near_and_nothing_of_another_run(line: Pipeline) -> None:
    line.add("I bake bread every day", scope=Scope(user_id="ann", run_id="r1"))
    line.drain()
    line.add("Set up nginx", scope=Scope(user_id="ann", run_id="r2"))
    line.drain()
    second = line.extractor.requests[-1]
    assert [turn.text for turn in second.earlier] == []
    assert list(second.shown) == []
    line.add("More bread", scope=Scope(user_id="ann", run_id="r1"))
    line.drain()
    third = line.extractor.requests[-1]
    assert [turn.text for turn in third.earlier] == ["I bake bread every day"]
    assert [shown.text for shown in third.shown] == ["I bake bread every day"]


def test_a_memory_that_is_committed_but_not_projected_is_context_too(line: Pipeline) -> None:
    index = line.runtime.index
    assert isinstance(index, MoodyIndex)
    index.refusing = True
    line.add("I like tea")
    line.drain()
    index.refusing = False
    line.add("Do I like tea?")
    make_due(line)
    line.drain()
    assert [shown.text for shown in line.extractor.requests[-1].shown] == ["I like tea"]


def test_a_stopping_process_takes_no_event(line: Pipeline) -> None:
    event = line.add("I like tea")
    executor = line.executor()
    executor.worker.stopping.set()
    assert drain(executor) == 0
    assert line.event(event).state == "accepted"


def test_an_expired_memory_does_not_block_its_text_from_coming_again(line: Pipeline) -> None:
    line.add("I like tea", expiration_date="2020-01-01")
    line.drain()
    event = line.add("I like tea")
    line.drain()
    (active,) = line.memories()
    assert line.event(event).results[0]["id"] == str(active.id)
    assert len(line.memories("state = 'expired'")) == 1


def test_the_timestamp_of_the_add_is_the_time_of_its_memories(line: Pipeline) -> None:
    line.add("I ran a marathon", timestamp=1684922400)
    line.drain()
    assert line.memories()[0].created_at.isoformat() == "2023-05-24T10:00:00+00:00"


def test_a_project_with_too_many_open_events_is_asked_to_wait_and_no_other(line: Pipeline) -> None:
    pressed = replace(line.runtime, pressure=Pressure(line.database, 3))
    for n in range(4):
        line.add(f"Fact {n}")
    request = Request(line.project, Scope(user_id="ann"), {"messages": []})
    with pytest.raises(MemlaneError) as refused:
        accept(pressed, request)
    assert refused.value.status == 429
    assert 1 <= (refused.value.retry_after or 0) <= 60
    other = new_id()
    accept(pressed, replace(request, project_id=other))
    with line.database.operations() as tx:  # claims look across projects: leave nothing open
        tx.connection.execute(text("DELETE FROM events WHERE project_id = :p"), {"p": other})


def test_a_stopping_worker_hands_back_what_it_cannot_finish_uncounted(line: Pipeline) -> None:
    event = line.add("I like tea")
    worker = line.executor().worker
    with line.database.operations() as tx:
        lane = tx.lanes.take(worker.name, 30.0)
    assert lane is not None
    with line.database.transaction(line.project) as tx:
        assert tx.events.begin(lane, event) is not None
    with worker.holding(lane):
        worker.working_on(lane, event)
        assert worker.hand_back() == 1
    row = line.event(event)
    assert (row.state, row.crashes, row.tries) == ("accepted", 0, 0)
    assert line.drain() == 1
    assert line.event(event).state == "projected"


def test_a_near_memory_that_goes_meanwhile_hides_no_other(line: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine of ten shown does not mean that the scope holds no more."""
    weather = [f"we talked about the weather number{n}{' today' * n}" for n in range(10)]
    line.add([{"role": "user", "content": said} for said in [*weather, "Rex the dog sleeps outside"]], infer=False)
    line.drain()
    first, embedder = line.memories()[0].id, line.runtime.models.embedder
    really = embedder.embed_query

    def and_one_is_deleted(said: str) -> Matrix:
        with line.database.operations() as tx:
            tx.connection.execute(text("UPDATE memories SET state = 'deleted' WHERE id = :id"), {"id": first})
        return really(said)

    monkeypatch.setattr(embedder, "embed_query", and_one_is_deleted)
    line.extractor.script = lambda request: [Candidate("Rex, the dog, sleeps outside!")]
    event = line.add("we talked about the weather today")
    line.drain()
    assert outcomes(line, event) == ["duplicate_of"]


def test_an_inferred_add_takes_as_few_round_trips_as_told(line: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten for the event: its begin, three reads, BEGIN, four statements, COMMIT; nine for all events of a turn."""
    sent: list[str] = []
    statement, words = Statement._sent, control.run

    def counted(self: Statement, *args: Any) -> Any:
        sent.append(self.text)
        return statement(self, *args)

    def counted_words(connection: Any, sql: bytes) -> bytes:
        sent.append(sql.decode())
        return words(connection, sql)

    line.add("I like tea and coffee")
    line.drain_all()
    line.add("I moved to Porto in May")
    monkeypatch.setattr(Statement, "_sent", counted)
    monkeypatch.setattr(control, "run", counted_words)
    line.drain_all()
    begun = next(n for n, sql in enumerate(sent) if "crashes = crashes + 1" in sql)
    committed = sent.index("COMMIT", begun)
    assert committed - begun + 1 == 10, sent[begun : committed + 1]
    projected = sent.index("COMMIT", committed + 1)
    assert projected - committed == 9, sent[committed + 1 : projected + 1]
