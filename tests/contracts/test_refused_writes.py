"""A PostgreSQL that refuses to write, its disk being full: told as an outage, and no event's fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import exc, text

from core.adapters.sql.database import SqlDatabase
from core.adapters.sql.event_store import SqlEventStore
from core.adapters.sql.project_store import SqlProjectStore
from core.adapters.sql.projection_store import SqlProjectionStore
from core.adapters.sql.touch_store import SqlTouchStore
from core.ports.database import DatabaseUnavailable
from core.services.authenticate import KeyAuthenticator
from core.services.fade import touch
from core.services.issue_key import issue_key
from core.services.recall import _request_repair
from tests.doubles.pipeline import Pipeline

_TIMES = 5  # more than the crashes that an event may count
_NOW = text("UPDATE events SET due_at = now() WHERE id = :id")


def refuse(*_: Any, **__: Any) -> None:
    raise DatabaseUnavailable("could not extend file: No space left on device")


def raising(state: str) -> Callable[[SqlDatabase], None]:
    def work(store: SqlDatabase) -> None:
        with store.operations() as tx:
            tx.connection.execute(text(f"DO $$ BEGIN RAISE EXCEPTION 'as asked' USING ERRCODE = '{state}'; END $$"))

    return work


@pytest.mark.parametrize("state", ["53000", "53100", "53200", "53400", "57014", "58000", "58030", "58P01", "25006"])
def test_what_the_server_cannot_do_at_the_moment_is_an_outage(pipeline: Pipeline, state: str) -> None:
    with pytest.raises(DatabaseUnavailable):
        raising(state)(pipeline.database)


@pytest.mark.parametrize("state", ["42P01", "22012", "XX000"])
def test_a_mistake_of_ours_is_no_outage(pipeline: Pipeline, state: str) -> None:
    with pytest.raises(exc.DBAPIError):
        raising(state)(pipeline.database)


def test_an_event_whose_effect_cannot_be_written_waits_and_counts_neither_try_nor_crash(pipeline: Pipeline) -> None:
    event = pipeline.add("I like tea")
    pipeline.extractor.script = refuse
    for _ in range(_TIMES):
        make_due(pipeline, event)
        pipeline.drain()
        row = pipeline.event(event)
        assert (row.state, row.tries, row.crashes) == ("retrying", 0, 0)
        assert row.error["code"] == "database_unavailable"
    pipeline.extractor.script = None
    make_due(pipeline, event)
    pipeline.drain()
    assert (pipeline.event(event).state, pipeline.event(event).error) == ("projected", None)


def test_an_event_whose_verdict_cannot_be_written_either_is_given_back_as_soon_as_it_can(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = pipeline.add("I like tea")
    pipeline.extractor.script = refuse
    refusals = iter(range(3))
    given_back = SqlEventStore.hand_back

    def at_last(*arguments: Any) -> bool:
        return given_back(*arguments) if next(refusals, None) is None else refuse()  # type: ignore[func-returns-value]

    monkeypatch.setattr(SqlEventStore, "retry", refuse)
    monkeypatch.setattr(SqlEventStore, "hand_back", at_last)
    with pytest.raises(DatabaseUnavailable):
        pipeline.drain()
    row = pipeline.event(event)
    assert (row.state, row.tries, row.crashes) == ("accepted", 0, 0)


def test_reads_whose_notes_cannot_be_written_are_answered(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = issue_key(pipeline.database, "reader")
    for store, name in ((SqlProjectStore, "touch_key"), (SqlTouchStore, "touch"), (SqlProjectionStore, "request")):
        monkeypatch.setattr(store, name, refuse)
    found = KeyAuthenticator(pipeline.database, pipeline.signals).authenticate(key.key)
    assert found is not None
    assert found.project_id == key.project_id
    touch(pipeline.runtime, pipeline.project, [pipeline.project], pipeline.runtime.clock.now())
    _request_repair(pipeline.runtime, pipeline.project, [pipeline.project])
    assert [lost["what"] for lost in pipeline.signals.named("note_lost")] == ["key_use", "decay", "repair"]


def make_due(pipeline: Pipeline, event: UUID) -> None:
    with pipeline.database.operations() as tx:
        tx.connection.execute(_NOW, {"id": event})
