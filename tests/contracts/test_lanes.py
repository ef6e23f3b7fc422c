"""Lanes and leases on a real PostgreSQL: order, fairness, fences, wake-ups that cannot be lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from uuid import UUID

import pytest
from sqlalchemy import text

from core.adapters.sql.database import PoolOptions, SqlDatabase
from core.adapters.sql.project_store import Project
from core.domain.event_overview import Narrowed
from core.domain.ids import new_id
from core.domain.scope import Scope
from core.domain.work import NewEvent
from core.ports.database import LaneRef
from core.ports.stores.events import EventResult
from deploy.migrations.run import upgrade
from tests.waiting import wait_until

LEASE = 30.0


@pytest.fixture(scope="module")
def migrated(new_database: Callable[[], str]) -> str:
    url = new_database()
    upgrade(url)
    return url


@pytest.fixture
def db(migrated: str) -> Iterator[SqlDatabase]:
    """A database without events: claims look across all projects."""
    database = SqlDatabase(migrated, PoolOptions(size=8))
    yield database
    with database.operations() as tx:
        tx.connection.execute(text("DELETE FROM events"))
        tx.connection.execute(text("DELETE FROM leases"))
    database.close()


def make_project(db: SqlDatabase) -> UUID:
    org, project, now = new_id(), new_id(), datetime.now(UTC)
    with db.operations() as tx:
        tx.projects.add_organization(org, "o", now)
        tx.projects.add_project(Project(project, org, "p", None, now, now))
    return project


def accept(db: SqlDatabase, project: UUID, user: str) -> UUID:
    event = NewEvent(new_id(), "ADD", Scope(user_id=user), {"messages": []})
    with db.transaction(project) as tx:
        tx.events.accept(project, event)
    return event.id


def take(db: SqlDatabase, owner: str = "w1", lease: float = LEASE) -> LaneRef | None:
    with db.operations() as tx:
        return tx.lanes.take(owner, lease)


def due(db: SqlDatabase, lane: LaneRef) -> list[UUID]:
    with db.transaction(lane.project_id) as tx:
        return [event.id for event in tx.lanes.due(lane, 16)]


def begin(db: SqlDatabase, lane: LaneRef, event: UUID) -> bool:
    with db.statements(lane.project_id) as single:
        return single.events.begin(lane, event) is not None


def finish(db: SqlDatabase, lane: LaneRef, event: UUID) -> bool:
    """As the work on an add goes; True where each step let it through."""
    done: EventResult = {"results": [], "outcomes": [], "reason": None, "usage": {}}
    begun = begin(db, lane, event)
    with db.transaction(lane.project_id) as tx:
        entered = tx.ingestion.enter(lane, []) is not None
        ended = tx.ingestion.finish(lane, event, done, [], 2) is not None
        projected = tx.events.project([event]) == [event]
    steps = {begun, entered, ended, projected}
    assert len(steps) == 1, "some step lets through what another refuses"
    return steps.pop()


def column(db: SqlDatabase, event: UUID, name: str) -> object:
    with db.operations() as tx:
        return tx.connection.execute(text(f"SELECT {name} FROM events WHERE id = :id"), {"id": event}).scalar_one()


def now(db: SqlDatabase) -> datetime:
    with db.operations() as tx:
        moment: datetime = tx.connection.execute(text("SELECT clock_timestamp()")).scalar_one()
    return moment


def expire(db: SqlDatabase, lane: LaneRef) -> None:
    with db.operations() as tx:
        tx.connection.execute(
            text("UPDATE leases SET expires_at = now() - interval '1 s' WHERE fence = :f"), {"f": lane.fence}
        )


def test_a_lane_is_worked_in_the_order_of_acceptance(db: SqlDatabase) -> None:
    project = make_project(db)
    events = [accept(db, project, "ann") for _ in range(5)]
    lane = take(db)
    assert lane is not None
    assert due(db, lane) == events


def test_one_lane_has_one_holder(db: SqlDatabase) -> None:
    project = make_project(db)
    accept(db, project, "ann")
    assert take(db, "w1") is not None
    assert take(db, "w2") is None


def test_lanes_of_one_project_run_side_by_side(db: SqlDatabase) -> None:
    project = make_project(db)
    accept(db, project, "ann")
    accept(db, project, "bob")
    first, second = take(db), take(db)
    assert first is not None
    assert second is not None
    assert first.lane_key != second.lane_key


def test_the_least_served_project_comes_first_however_long_the_other_queue_is(db: SqlDatabase) -> None:
    hot, quiet = make_project(db), make_project(db)
    for n in range(20):
        accept(db, hot, f"user-{n}")
    accept(db, quiet, "ann")
    taken = [take(db) for _ in range(3)]
    assert quiet in [lane.project_id for lane in taken[:2] if lane]


def test_an_expired_lease_is_taken_over_with_a_higher_fence_and_the_old_holder_can_do_nothing(
    db: SqlDatabase,
) -> None:
    project = make_project(db)
    event = accept(db, project, "ann")
    old = take(db, "w1")
    assert old is not None
    expire(db, old)
    new = take(db, "w2")
    assert new is not None
    assert (new.fence or 0) > (old.fence or 0)
    assert not finish(db, old, event)
    assert finish(db, new, event)


def test_a_freed_and_retaken_lease_never_repeats_a_fence(db: SqlDatabase) -> None:
    project = make_project(db)
    fences = []
    for _ in range(3):
        event = accept(db, project, "ann")
        lane = take(db)
        assert lane is not None
        fences.append(lane.fence)
        assert finish(db, lane, event)
        with db.operations() as tx:
            assert tx.lanes.release(lane)
    assert len(set(fences)) == 3


def test_a_lane_is_not_released_while_an_event_is_due(db: SqlDatabase) -> None:
    project = make_project(db)
    accept(db, project, "ann")
    lane = take(db)
    assert lane is not None
    with db.operations() as tx:
        assert not tx.lanes.release(lane)
        assert tx.lanes.let_go(lane)


def test_an_accept_during_a_release_is_seen_by_one_of_both(db: SqlDatabase) -> None:
    """Either the release sees the new event and keeps the lane, or the accept sees the lane free and wakes."""
    project = make_project(db)
    lost = 0
    for _ in range(40):
        event = accept(db, project, "ann")
        lane = take(db)
        assert lane is not None
        finish(db, lane, event)
        answers: dict[str, bool] = {}
        barrier = threading.Barrier(2)

        def release(lane: LaneRef = lane, answers: dict[str, bool] = answers, barrier: object = barrier) -> None:
            barrier.wait()  # type: ignore[attr-defined]
            with db.operations() as tx:
                answers["released"] = tx.lanes.release(lane)

        def add(answers: dict[str, bool] = answers, barrier: object = barrier) -> None:
            new = NewEvent(new_id(), "ADD", Scope(user_id="ann"), {"messages": []})
            barrier.wait()  # type: ignore[attr-defined]
            with db.transaction(project) as tx:
                tx.events.accept(project, new)
                answers["woke"] = tx.lanes.is_free(LaneRef(project, Scope(user_id="ann").key))

        threads = [threading.Thread(target=release), threading.Thread(target=add)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lost += answers["released"] and not answers["woke"]
        with db.operations() as tx:
            tx.lanes.let_go(lane)
        again = take(db)
        assert again is not None
        for id_ in due(db, again):
            finish(db, again, id_)
        with db.operations() as tx:
            tx.lanes.release(again)
    assert lost == 0


def test_a_release_waits_for_an_accept_that_saw_the_lane_held(db: SqlDatabase) -> None:
    """The accept has looked and will not wake anybody: the release has to see its event, or work on it is lost."""
    project = make_project(db)
    event = accept(db, project, "ann")
    lane = take(db)
    assert lane is not None
    finish(db, lane, event)
    released: list[bool] = []

    def release() -> None:
        with db.operations() as tx:
            released.append(tx.lanes.release(lane))

    thread = threading.Thread(target=release)
    with db.transaction(project) as tx:
        tx.events.accept(project, NewEvent(new_id(), "ADD", Scope(user_id="ann"), {"messages": []}))
        woke = tx.lanes.is_free(lane)
        thread.start()
        thread.join(0.5)  # it has to wait for this transaction; what does not wait is done by then
    thread.join()
    lost = released == [True] and not woke
    assert not lost


def test_a_retrying_event_blocks_its_lane_and_no_other(db: SqlDatabase) -> None:
    project = make_project(db)
    event = accept(db, project, "ann")
    accept(db, project, "ann")
    lane = take(db)
    assert lane is not None
    assert begin(db, lane, event)
    with db.transaction(project) as tx:
        assert tx.events.retry(lane, event, 60.0, {"code": "rate_limited"})
    assert due(db, lane) == []
    with db.operations() as tx:
        assert tx.lanes.release(lane)
    assert take(db) is None
    accept(db, project, "bob")
    assert take(db) is not None
    assert column(db, event, "tries") == 1
    assert column(db, event, "crashes") == 0


def test_a_crash_is_counted_until_the_work_reports(db: SqlDatabase) -> None:
    project = make_project(db)
    event = accept(db, project, "ann")
    for crashes in (1, 2):
        lane = take(db, f"w{crashes}")
        assert lane is not None
        assert begin(db, lane, event)
        assert column(db, event, "crashes") == crashes
        expire(db, lane)
    lane = take(db, "w3")
    assert lane is not None
    with db.transaction(project) as tx:
        work = tx.events.begin(lane, event)
        assert work is not None
        assert work.crashes == 2
        assert tx.events.hand_back(lane, event)
    assert column(db, event, "crashes") == 2


def test_a_lease_that_is_renewed_is_not_taken_over(db: SqlDatabase) -> None:
    project = make_project(db)
    accept(db, project, "ann")
    lane = take(db, "w1", lease=0.2)
    assert lane is not None
    assert lane.fence is not None
    with db.operations() as tx:
        first = "SELECT expires_at + interval '0.2 s' FROM leases WHERE fence = :f"
        past = tx.connection.execute(text(first), {"f": lane.fence}).scalar_one()
        assert tx.lanes.renew("w1", [lane.fence], 60.0) == {lane.fence}
    wait_until(lambda: now(db) > past, what="the first lease would have run out")
    assert take(db, "w2") is None


def test_another_project_sees_no_row_whatever_it_asks(db: SqlDatabase) -> None:
    mine, other = make_project(db), make_project(db)
    accept(db, mine, "ann")
    tables = ("events", "lanes", "scope_entities")
    for confined in (db.transaction, db.statements, db.transaction, db.statements):  # whoever had the session before
        with confined(other) as tx:
            for table in tables:
                assert tx.connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one() == 0
        with confined(mine) as tx:
            for table in tables:
                assert tx.connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one() == 1


def test_an_attempt_that_runs_is_shown_as_no_crash_until_its_worker_is_lost(db: SqlDatabase) -> None:
    project = make_project(db)
    event = accept(db, project, "ann")
    for shown in (0, 1):
        lane = take(db)
        assert lane is not None
        assert begin(db, lane, event)
        with db.statements(project) as tx:
            read = tx.event_reads.one(project, event)
        with db.operations() as tx:
            (listed,) = tx.event_overview.newest(Narrowed(project_id=project), 10)
        assert read is not None
        assert (read.crashes, listed.crashes) == (shown, shown)
        expire(db, lane)
