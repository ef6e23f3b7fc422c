"""Erasure on real PostgreSQL and a real index: nothing is left, and nothing accepted before comes back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from core.adapters.qdrant import QdrantIndex
from core.domain.erasure import DELETE_USER
from core.domain.errors import MemlaneError
from core.domain.scope import Scope
from core.domain.selection import Selection
from core.domain.work import Superseded
from core.ports.database import LaneRef
from core.services.accept import Request, accept
from core.services.commit import Prepared, commit
from core.services.context import Context
from core.services.delete_all import Deletion, delete_all
from core.services.erase import Whom, erase, read_erasure
from tests.doubles.pipeline import Pipeline, make_pipeline

TABLES = text("""
SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
""")


@pytest.fixture
def line(own_place: tuple[str, QdrantIndex, str]) -> Iterator[Pipeline]:
    pipeline = make_pipeline(*own_place)
    yield pipeline
    with pipeline.database.operations() as tx:
        tx.connection.execute(text("DELETE FROM events WHERE project_id = :p"), {"p": pipeline.project})
    pipeline.database.close()


def residue(line: Pipeline, canary: str) -> list[str]:
    """The tables in which a row of any project holds the text."""
    with line.database.operations() as tx:
        names = [row.table_name for row in tx.connection.execute(TABLES)]
        found = []
        for name in names:
            if name == "alembic_version":
                continue
            query = text(f"SELECT count(*) FROM {name} t WHERE t::text ILIKE :canary")
            if tx.connection.execute(query, {"canary": f"%{canary}%"}).scalar_one():
                found.append(name)
    return found


def user(line: Pipeline, name: str, **more: Any) -> Whom:
    return Whom(line.project, "user", name, **more)


def test_c39_nothing_of_an_erased_user_is_left_in_any_table_or_in_the_index(line: Pipeline) -> None:
    line.add("My passport is X123", user="zoe-canary", metadata={"doc": "X123"})
    line.add("My cat is called Minka", user="bob")
    line.drain()
    assert residue(line, "X123")
    erasure = erase(line.runtime, user(line, "zoe-canary"))
    assert [memory.user_id for memory in line.memories("state <> 'deleted'")] == ["bob"]
    line.drain_all()
    assert residue(line, "X123") == []
    assert residue(line, "zoe-canary") == []
    assert line.indexed() == {memory.id for memory in line.memories()}
    receipt = read_erasure(line.runtime, line.project, str(erasure.id)).receipt
    assert (receipt["memories"], receipt["events"], receipt["messages"]) == (1, 1, 1)
    assert receipt["history"] == 2


def test_a_second_request_is_answered_from_the_digest_and_a_stranger_is_unknown(line: Pipeline) -> None:
    line.add("I like tea", user="zoe")
    line.drain()
    first = erase(line.runtime, user(line, "zoe"))
    line.drain_all()
    assert erase(line.runtime, user(line, "zoe")).id == first.id
    with pytest.raises(MemlaneError) as unknown:
        erase(line.runtime, user(line, "nobody"))
    assert unknown.value.code == "entity_not_found"


def test_an_add_accepted_before_and_not_worked_on_yet_ends_as_erased(line: Pipeline) -> None:
    event = line.add("My passport is X123", user="zoe")
    erase(line.runtime, user(line, "zoe"))
    line.drain_all()
    row = line.event(event)
    assert (row.state, row.error["code"], row.payload) == ("failed", "erased", None)
    assert line.memories() == []


def test_an_add_in_the_middle_of_its_work_cannot_commit_any_more(line: Pipeline) -> None:
    event = line.add("My passport is X123", user="zoe")
    with line.database.operations() as tx:
        lane = tx.lanes.take("w1", 30.0)
    assert isinstance(lane, LaneRef)
    with line.database.transaction(line.project) as tx:
        work = tx.events.begin(lane, event)
    assert work is not None
    erase(line.runtime, user(line, "zoe"))
    outcome = commit(line.runtime, lane, Prepared(work, [], Context(), [], []))
    assert isinstance(outcome, Superseded)
    assert line.event(event).error["code"] == "erased"


def test_an_add_after_the_erasure_is_the_users_new_beginning(line: Pipeline) -> None:
    line.add("Old fact", user="zoe-again")
    line.drain()
    erase(line.runtime, user(line, "zoe-again"))
    line.add("New fact", user="zoe-again")
    line.drain_all()
    assert [(memory.memory, memory.user_id) for memory in line.memories()] == [("New fact", "zoe-again")]
    erase(line.runtime, user(line, "zoe-again"))
    assert line.memories() == []
    line.drain_all()
    assert residue(line, "New fact") == residue(line, "zoe-again") == []


def test_a_job_whose_erasure_is_not_there_fails_at_once_and_says_so(line: Pipeline) -> None:
    """As a failed one does that came with an archive, where no erasures are, and is queued again."""
    payload = {"erasure_id": str(uuid4())}
    request = Request(line.project, Scope(user_id="zoe"), payload, event_type=DELETE_USER)
    event = accept(line.runtime, request).event_id
    line.drain_all()
    row = line.event(event)
    assert (row.state, row.error and row.error["code"], row.tries) == ("failed", "erasure_not_found", 0)


def test_a_deletion_after_the_erasure_makes_nobody_known_again(line: Pipeline) -> None:
    line.add("Old fact", user="zoe")
    line.drain()
    erase(line.runtime, user(line, "zoe"))
    delete_all(line.runtime, Deletion(line.project, Selection({"user_id": "zoe"})))
    line.drain_all()
    assert line.count("scope_entities") == 0


def test_a_second_erasure_while_the_first_waits_leaves_both_done_and_no_name(line: Pipeline) -> None:
    line.add("My passport is X123", user="zoe-canary", scope=Scope(user_id="zoe-canary", run_id="r1"))
    line.drain()
    first = erase(line.runtime, user(line, "zoe-canary", keep_derived=True))
    line.add("My passport is X124", user="zoe-canary")
    second = erase(line.runtime, user(line, "zoe-canary"))
    assert first.id != second.id
    line.drain_all()
    assert [line.event(erasure.event_id).state for erasure in (first, second)] == ["projected"] * 2
    assert residue(line, "zoe-canary") == residue(line, "X12") == []


@pytest.mark.parametrize(("keep", "left"), [(False, 0), (True, 1)])
def test_what_an_agent_learned_from_the_users_conversation_goes_too_unless_kept(
    line: Pipeline, keep: bool, left: int
) -> None:
    from core.domain.memory import Candidate

    line.extractor.script = lambda request: [
        Candidate("Bot told the user about Porto", attributed_to="assistant", role="assistant", source_turns=(0,))
    ]
    line.add("Tell me of Porto", scope=Scope(user_id="zoe", agent_id="bot"))
    line.drain()
    assert [memory.user_id for memory in line.memories()] == [None]
    erase(line.runtime, replace(user(line, "zoe"), keep_derived=keep))
    line.drain_all()
    assert len(line.memories()) == left


def test_every_type_of_entity_can_be_erased(line: Pipeline) -> None:
    scope = Scope(user_id="u", agent_id="a", app_id="p", run_id="r")
    for type_, name in (("agent", "a"), ("app", "p"), ("run", "r")):
        line.add(f"A fact for {type_}", scope=scope, infer=False)
        line.drain()
        erase(line.runtime, Whom(line.project, type_, name))
        line.drain_all()
        assert line.memories() == []


def test_a_thousand_rows_are_erased_in_seconds(line: Pipeline) -> None:
    turns = [{"role": "user", "content": f"Row number {n}"} for n in range(1000)]
    line.add(turns, user="zoe", infer=False)
    line.drain()
    assert len(line.memories()) == 1000
    erase(line.runtime, user(line, "zoe"))
    assert line.memories("state <> 'deleted'") == []
    line.drain_all()
    assert line.indexed() == set()
    assert line.count("memories") == 0
