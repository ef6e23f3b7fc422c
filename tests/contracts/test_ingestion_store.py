"""The statements of an event's work on a real PostgreSQL: what each gives, what it holds, what it refuses."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.adapters.sql import ingestion_store
from core.adapters.sql.database import PoolOptions, SqlDatabase, SqlTransaction
from core.domain.ids import new_id
from core.domain.memory import Entity, Memory, MemoryState, Relation
from core.domain.scope import Scope
from core.domain.work import NewEvent
from core.ports.database import LaneRef, UniqueViolation
from core.ports.stores.events import EventResult
from core.ports.stores.ingestion import Additions
from tests.waiting import wait_until

NOW = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
DONE: EventResult = {"results": [], "outcomes": [], "reason": None, "usage": {}}


@pytest.fixture
def store(database: str) -> Iterator[SqlDatabase]:
    made = SqlDatabase(database, PoolOptions(size=4))
    yield made
    with made.operations() as tx:
        tx.connection.execute(text("DELETE FROM events"))
        tx.connection.execute(text("DELETE FROM leases"))
    made.close()


def memory(project: UUID, words: str, user: str = "ann", **fields: Any) -> Memory:
    place = {"project_id": project, "scope": Scope(user_id=user), "memory": words, "hash": words}
    times = {"state": MemoryState.ACTIVE, "created_at": NOW, "updated_at": NOW}
    return Memory(id=new_id(), **(place | times | fields))


def everything(project: UUID, user: str) -> Memory:
    """With something in every field that an add can fill."""
    return memory(
        project, "C'est « ça »: \\x41 \\u0041 % :name 'quoted' 猫", user,
        scope=Scope(user, "agent", "app", "run"), version=3, metadata={"a": [1, 2.5, None, {"ü": "\\"}]},
        categories=["food, drink", 'a "b"'], entities=[Entity("Ann", "ann", "person"), Entity("Bo", "bo")],
        event_date=date(2026, 2, 28), expiration_date=date(2100, 1, 1), immutable=True, attributed_to="assistant",
        role="assistant", actor_id="Ann", source_event_id=new_id(), source_turns=[0, 2], lane_key="lane",
        position=2**40, said_at=NOW - timedelta(days=1), valid_from=NOW, valid_to=NOW, replaced_by=new_id(),
        replaced_kind="changed", memory_type="procedural_memory", synthesized=True, evidence=[new_id(), new_id()],
        embedding=bytes(range(256)),
    )  # fmt: skip


def put(db: SqlDatabase, *memories: Memory) -> None:
    with db.transaction(memories[0].project_id) as tx:
        tx.ingestion.store(Additions(memories))


def claimed(db: SqlDatabase, project: UUID, user: str = "ann") -> tuple[LaneRef, UUID]:
    event = NewEvent(new_id(), "ADD", Scope(user_id=user), {"messages": []})
    with db.transaction(project) as tx:
        tx.events.accept(project, event)
    with db.autocommit() as ops:
        lane = ops.lanes.take("w1", 30.0)
    assert lane is not None
    with db.statements(project) as single:
        assert single.events.begin(lane, event.id) is not None
    return lane, event.id


def rows(db: SqlDatabase, table: str, project: UUID) -> Sequence[Any]:
    with db.operations() as tx:
        query = text(f"SELECT * FROM {table} WHERE project_id = :project ORDER BY 1, 2, 3")
        return tx.connection.execute(query, {"project": project}).all()


def test_a_memory_comes_back_as_it_was_stored_by_either_way_of_storing(store: SqlDatabase) -> None:
    project = new_id()
    one, other = everything(project, "ann"), everything(project, "bob")
    put(store, one)
    with store.transaction(project) as tx:
        tx.memories.add([other])
        tx.memories.link([other])
    with store.statements(project) as tx:
        found = {row.id: row for row in tx.memories.by_ids(project, [one.id, other.id])}
    assert found == {one.id: one, other.id: other}
    names = {(row.scope_key, row.key, row.name, row.type) for row in rows(store, "entities", project)}
    assert names == {(m.scope.key, e.key, e.name, e.type) for m in (one, other) for e in m.entities}
    links = {(row.memory_id, row.key, row.scope_key) for row in rows(store, "entity_links", project)}
    assert links == {(m.id, e.key, m.scope.key) for m in (one, other) for e in m.entities}


def test_what_a_memory_leaves_elsewhere_comes_with_it(store: SqlDatabase) -> None:
    project, row = new_id(), memory(new_id(), "I like tea")
    row = replace(row, project_id=project)
    relation = Relation("Ann", "likes", "tea")
    entry = {"project_id": project, "memory_id": row.id, "version": 1, "event": "ADD", "old_memory": None,
             "new_memory": row.memory, "input": [{"role": "user", "content": "I like tea"}],
             "created_at": NOW}  # fmt: skip
    with store.transaction(project) as tx:
        tx.ingestion.store(Additions([row], [entry], {row.id: [relation, relation]}))
    (told,) = rows(store, "history", project)
    assert {name: getattr(told, name) for name in entry} == entry
    assert told.snapshot is None
    (related,) = rows(store, "relations", project)
    assert (related.source, related.relation, related.target) == ("Ann", "likes", "tea")


def test_a_text_that_is_active_in_its_scope_ends_the_transaction(store: SqlDatabase) -> None:
    project = new_id()
    put(store, memory(project, "I like tea"))
    with pytest.raises(UniqueViolation):
        put(store, memory(project, "I like tea"), memory(project, "and coffee"))
    put(store, memory(project, "I like tea", user="bob"))
    assert [row.memory for row in rows(store, "memories", project)] == ["I like tea"] * 2
    with pytest.raises(UniqueViolation):
        put(store, memory(project, "twice", user="cy"), memory(project, "twice", user="cy"))


@pytest.mark.parametrize(("said", "kept"), [(2, 2), (3, 3), (4, 3), (7, 3)])
def test_a_lane_keeps_its_last_messages(store: SqlDatabase, said: int, kept: int) -> None:
    project, keep = new_id(), 3
    for position in range(said):
        message = {"project_id": project, "lane_key": "lane", "event_id": new_id(), "position": position,
                   "role": "user", "name": None, "content": f"no. {position}", "said_at": NOW}  # fmt: skip
        with store.transaction(project) as tx:
            tx.ingestion.store(Additions(messages=[message], keep=keep))
    with store.statements(project) as tx:
        found = tx.memories.recent_messages(project, "lane", said, keep)
    assert [message.content for message in found] == [f"no. {n}" for n in range(said - kept, said)]
    assert len(rows(store, "messages", project)) <= 2 * keep


def test_many_messages_of_one_add_are_cut_to_what_is_kept(store: SqlDatabase) -> None:
    project = new_id()
    messages = [
        {"project_id": project, "lane_key": "lane", "event_id": new_id(), "position": position, "role": "user",
         "name": "Ann", "content": f"no. {position}", "said_at": NOW} for position in range(50)
    ]  # fmt: skip
    with store.transaction(project) as tx:
        tx.ingestion.store(Additions(messages=messages, keep=3))
    assert {row.position for row in rows(store, "messages", project)} == {47, 48, 49}


def test_scopes_are_read_whole_up_to_a_number(store: SqlDatabase) -> None:
    project, ann, bob = new_id(), Scope(user_id="ann").key, Scope(user_id="bob").key
    with store.statements(project) as tx:
        assert tx.ingestion.whole(project, [ann, bob], 2) == []
    gone = memory(project, "gone", state=MemoryState.SUPERSEDED)
    put(store, memory(project, "one", embedding=b"\0\1", expiration_date=date(2020, 1, 1)), gone)
    put(store, memory(project, "two", user="bob"), memory(project, "elsewhere", user="cy"))
    with store.statements(project) as tx:
        found = tx.ingestion.whole(project, [ann, bob], 2)
        assert tx.ingestion.whole(project, [ann, bob], 1) is None
    assert found is not None
    by_hash = {row.hash: row for row in found}
    assert set(by_hash) == {"one", "two"}
    assert (by_hash["one"].embedding, by_hash["one"].expiration_date) == (b"\0\1", date(2020, 1, 1))
    assert by_hash["two"].stored_seq > by_hash["one"].stored_seq


def test_what_came_since_is_told_apart_from_what_has_the_text(store: SqlDatabase) -> None:
    project, ann = new_id(), Scope(user_id="ann").key
    put(store, memory(project, "before"))
    with store.statements(project) as tx:
        (seen,) = tx.ingestion.whole(project, [ann], 10) or []
    put(store, memory(project, "since"))
    put(store, memory(project, "expired", expiration_date=date(2020, 1, 1)))
    put(store, memory(project, "closed", state=MemoryState.MERGED))
    with store.statements(project) as tx:
        known = tx.ingestion.known(project, [ann], ["before", "expired", "closed"], {ann: seen.stored_seq})
    assert {hash_ for _, hash_ in known.texts} == {"before", "expired"}
    assert [row.memory for row in known.fresh] == ["since"]


def test_each_scope_has_a_mark_of_its_own(store: SqlDatabase) -> None:
    """Sequences of two scopes are given under two locks: the lower one may be committed later."""
    project, ann, bot = new_id(), Scope(user_id="ann"), Scope(agent_id="bot")
    with store.transaction(project) as slow:
        slow.memories.lock_scopes(project, [ann.key])
        slow.ingestion.store(Additions([memory(project, "I like green tea", scope=ann)]))
        put(store, memory(project, "I am a bot", scope=bot))
        with store.statements(project) as tx:
            marks = tx.memories.marks(project, [ann.key, bot.key])
    with store.statements(project) as tx:
        known = tx.ingestion.known(project, [ann.key, bot.key], [], marks)
    assert set(marks) == {bot.key}
    assert [row.memory for row in known.fresh] == ["I like green tea"]


def test_much_is_stored_in_parts(store: SqlDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingestion_store, "_PART_CHARACTERS", 2_000)
    project = new_id()
    some = [replace(everything(project, "ann"), hash=str(n), memory=f"no. {n}", id=new_id()) for n in range(20)]
    messages = [{"project_id": project, "lane_key": "lane", "event_id": new_id(), "position": n, "role": "user",
                 "name": None, "content": "x" * 500, "said_at": NOW} for n in range(30)]  # fmt: skip
    entries = [{"project_id": project, "memory_id": row.id, "version": 1, "event": "ADD", "old_memory": None,
                "new_memory": row.memory, "input": [], "created_at": NOW} for row in some]  # fmt: skip
    with store.transaction(project) as tx:
        tx.ingestion.store(Additions(some, entries, {}, messages, 30))
    assert {row.id for row in rows(store, "memories", project)} == {row.id for row in some}
    assert len(rows(store, "history", project)) == 20
    assert len(rows(store, "messages", project)) == 30
    assert len(rows(store, "entity_links", project)) == 40


def test_only_the_holder_of_the_lane_enters(store: SqlDatabase) -> None:
    project = new_id()
    lane, _ = claimed(store, project)
    with store.transaction(project) as tx:
        assert tx.ingestion.enter(lane, ["scope"]) is not None
        assert tx.ingestion.enter(replace(lane, fence=(lane.fence or 0) - 1), ["scope"]) is None
        assert tx.ingestion.enter(replace(lane, lane_key="another"), ["scope"]) is None
    with store.transaction(new_id()) as tx:
        assert tx.ingestion.enter(lane, ["scope"]) is None, "another project's lane"


def test_collections_are_given_by_role(store: SqlDatabase) -> None:
    lane, _ = claimed(store, new_id())
    with store.operations() as tx:
        tx.connection.execute(text("DELETE FROM index_collections"))
        assert tx.ingestion.enter(lane, []) == {}
        tx.ops.add_collection("c_1", "active", "model", 3)
        held = tx.ingestion.enter(lane, [])
        assert held is not None
        assert (held["active"].name, held["active"].dims) == ("c_1", 3)
        tx.connection.execute(text("DELETE FROM index_collections"))


def by_lock(tx: SqlTransaction, lane: LaneRef, scopes: list[str]) -> None:
    tx.memories.lock_scopes(lane.project_id, scopes)


def by_entering(tx: SqlTransaction, lane: LaneRef, scopes: list[str]) -> None:
    assert tx.ingestion.enter(lane, scopes) is not None


def by_switching(tx: SqlTransaction, lane: LaneRef, scopes: list[str]) -> None:
    tx.rebuild.hold_alone()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (by_lock, by_lock),
        (by_lock, by_entering),
        (by_entering, by_lock),
        (by_entering, by_entering),
        (by_entering, by_switching),
        (by_switching, by_entering),
    ],
    ids=lambda way: way.__name__[3:],
)
def test_writers_of_one_scope_go_one_after_the_other(store: SqlDatabase, one: Any, other: Any) -> None:
    """Each has to see what the other has committed, or both store what is nearly the same; and a switch of the
    collections comes before a writer or after it."""
    lane, _ = claimed(store, new_id())
    order: list[str] = []

    def second() -> None:
        with store.operations() as tx:
            other(tx, lane, ["scope", "another"])
            order.append("second")

    thread = threading.Thread(target=second)
    with store.operations() as tx:
        one(tx, lane, ["scope"])
        thread.start()
        waits = wait_until(lambda: order or waiting(store), what="the second is through, or waits")
        order.append("first")
    thread.join()
    assert waits == 1
    assert order == ["first", "second"]


def waiting(db: SqlDatabase) -> int:
    """Who waits for an advisory lock."""
    with db.autocommit() as tx:
        query = text(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        return int(tx.connection.execute(query).scalar_one())


def test_an_event_ends_once_and_asks_for_what_it_changed_and_what_stands_around(store: SqlDatabase) -> None:
    project = new_id()
    lane, event = claimed(store, project)
    near = memory(project, "near", lane_key="lane", position=1)
    far = memory(project, "far", lane_key="lane", position=9)
    closed = memory(project, "closed", lane_key="lane", position=3, state=MemoryState.SUPERSEDED)
    put(store, near, far, closed)
    changed = memory(project, "changed", lane_key="lane", position=2)
    put(store, changed)
    with store.transaction(project) as tx:
        waiting = tx.ingestion.finish(lane, event, DONE, [changed], 2)
        assert waiting is not None
        assert set(waiting) == {near.id, changed.id}
    assert {row.memory_id for row in rows(store, "projections", project)} == set(waiting)
    with store.transaction(project) as tx:
        assert tx.ingestion.finish(lane, event, DONE, [changed], 2) is None
        assert tx.ingestion.finish(replace(lane, fence=0), event, DONE, [], 2) is None
