"""Failed events are queued again by a person: one, or many by time and code; each once, in its lane's order."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from core.domain.errors import MemlaneError
from core.domain.event_overview import Narrowed
from core.services import retry_event as retry_module
from core.services.retry_event import retry_event, retry_failed
from tests.doubles.pipeline import Pipeline, Wakes


def test_a_failed_event_is_queued_again_at_the_end_of_its_lane(pipeline: Pipeline) -> None:
    event = pipeline.add("I like tea")
    with pipeline.database.operations() as tx:
        tx.connection.execute(text("UPDATE events SET crashes = 3 WHERE id = :id"), {"id": event})
    pipeline.drain()
    assert pipeline.event(event).state == "failed"
    later = pipeline.add("I like milk")
    again = retry_event(pipeline.runtime, pipeline.project, str(event))
    assert again.status == "PENDING"
    pipeline.drain()
    assert pipeline.event(event).state == "projected"
    assert pipeline.event(event).seq > pipeline.event(later).seq
    assert {memory.memory for memory in pipeline.memories()} == {"I like tea", "I like milk"}
    with pytest.raises(MemlaneError) as refused:
        retry_event(pipeline.runtime, pipeline.project, str(event))
    assert refused.value.code == "event_not_retryable"


def test_failed_events_are_queued_again_by_time_and_code_and_keep_their_order(pipeline: Pipeline) -> None:
    events = [pipeline.add(f"Fact {n}", user=f"u{n % 2}") for n in range(5)]
    with pipeline.database.operations() as tx:
        tx.connection.execute(text("UPDATE events SET crashes = 3 WHERE project_id = :p"), {"p": pipeline.project})
    pipeline.drain_all()
    with pipeline.database.operations() as tx:
        old = text("UPDATE events SET completed_at = now() - interval '3 h' WHERE id = :id")
        tx.connection.execute(old, {"id": events[0]})
        other = text("""UPDATE events SET error = '{"code": "rate_limited"}' WHERE id = :id""")
        tx.connection.execute(other, {"id": events[1]})
        gone = text("UPDATE events SET payload = NULL WHERE id = :id")
        tx.connection.execute(gone, {"id": events[2]})
    recent = Narrowed(pipeline.project, within=timedelta(hours=2), codes=["worker_lost"])
    with pipeline.database.operations() as tx:
        assert tx.event_overview.count(recent) == 3
        found = tx.event_overview.newest(replace(recent, retryable=True), 10)
    assert [(event.id, event.code, event.messages) for event in found] == [
        (events[4], "worker_lost", 1),
        (events[3], "worker_lost", 1),
    ]
    assert retry_failed(pipeline.database, pipeline.runtime.queue, recent) == 2
    assert retry_failed(pipeline.database, pipeline.runtime.queue, recent) == 0
    pipeline.drain_all()
    assert [pipeline.event(event).state for event in events] == ["failed"] * 3 + ["projected"] * 2
    assert retry_failed(pipeline.database, pipeline.runtime.queue, Narrowed(pipeline.project)) == 2
    assert pipeline.event(events[0]).seq > 3  # behind what its lane has accepted since


def test_what_fails_again_at_once_is_queued_again_once(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry_module, "BATCH", 2)
    events = [pipeline.add(f"Fact {n}", user=f"u{n}") for n in range(5)]
    fail = text("""UPDATE events SET state = 'failed', completed_at = now(), error = '{"code": "model_rejected"}'
                   WHERE project_id = :p""")

    class FailingAtOnce(Wakes):
        def wake(self, queue: str = "ingest", key: str = "") -> None:
            super().wake(queue, key)
            assert len(self.keys) <= len(events)
            with pipeline.database.operations() as tx:
                tx.connection.execute(fail, {"p": pipeline.project})

    with pipeline.database.operations() as tx:
        tx.connection.execute(fail, {"p": pipeline.project})
    recent = Narrowed(pipeline.project, within=timedelta(hours=2))
    assert retry_failed(pipeline.database, FailingAtOnce(), recent) == len(events)
