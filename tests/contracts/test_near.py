"""Scopes read whole and scopes asked of the index: the same memories are near, whichever way is taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text as sql

from core.adapters.qdrant import QdrantIndex
from core.domain.memory import Memory
from core.domain.scope import Scope
from core.domain.work import EventWork
from core.services import near
from core.services.near import AskedOfIndex, ReadWhole, Surroundings, survey
from tests.doubles.pipeline import Pipeline, make_pipeline


def said(word: str = "tea") -> list[str]:
    """Each at another distance from whatever is asked below."""
    return [word + " coffee" * n for n in range(18)]


@pytest.fixture
def line(own_place: tuple[str, QdrantIndex, str]) -> Iterator[Pipeline]:
    pipeline = make_pipeline(*own_place)
    yield pipeline
    with pipeline.database.operations() as tx:  # claims look across projects: leave nothing open
        tx.connection.execute(sql("DELETE FROM events"))
    pipeline.database.close()


def work_of(line: Pipeline, scope: Scope) -> EventWork:
    row: Any = line.event(line.add("what do I keep?", scope=scope))
    fields = {name: getattr(row, name, None) for name in EventWork.__dataclass_fields__}
    return EventWork(**(fields | {"scope": scope, "settings": {}, "age": 0.0}))


def both(line: Pipeline, work: EventWork, monkeypatch: pytest.MonkeyPatch) -> tuple[Surroundings, Surroundings]:
    with line.database.statements(line.project) as tx:
        whole = survey(line.runtime, tx, work)
        monkeypatch.setattr(near, "MOST_WHOLE", 3)
        indexed = survey(line.runtime, tx, work)
    assert isinstance(whole, ReadWhole)
    assert isinstance(indexed, AskedOfIndex)
    return whole, indexed


def words(found: list[list[Memory]]) -> list[list[str]]:
    return [[memory.memory for memory in line] for line in found]


@pytest.mark.parametrize("scope", [Scope(user_id="ann"), Scope(user_id="ann", agent_id="bot")], ids=["one", "two"])
def test_both_ways_find_the_same_and_see_as_far(
    line: Pipeline, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, word in zip(near.scopes_of(scope), ("tea", "tea tea milk"), strict=False):
        line.add([{"role": "user", "content": text} for text in said(word)], scope=place, infer=False)
        line.add("tea and a dog", scope=replace(place, run_id="another"), infer=False)
    line.drain_all()
    work = work_of(line, scope)
    whole, indexed = both(line, work, monkeypatch)
    assert whole.marks == indexed.marks
    asked = line.runtime.models.embedder.embed_passages(["tea", "coffee coffee tea", "milk tea"])
    for limit, least in ((5, -1.0), (100, -1.0), (5, 0.95)):
        one = words(whole.nearest(asked, limit, least=least))
        other = words(indexed.nearest(asked, limit, least=least))
        assert one == other
    assert words(whole.nearest(asked, 1))[1] == ["tea coffee coffee"]


def test_what_is_not_in_the_index_yet_is_near_too(line: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    line.add([{"role": "user", "content": text} for text in said()[:6]], infer=False)
    line.drain_all()
    (first, *_) = line.memories()
    line.runtime.index.delete([line.runtime.collections.current().active], [first.id])
    with line.database.transaction(line.project) as tx:
        tx.projections.request(line.project, [first.id])
    work = work_of(line, Scope(user_id="ann"))
    whole, indexed = both(line, work, monkeypatch)
    asked = line.runtime.models.embedder.embed_passages([first.memory])
    assert words(whole.nearest(asked, 1)) == [[first.memory]]
    assert words(indexed.nearest(asked, 1)) == [[first.memory]]


def test_what_is_gone_since_expired_or_of_another_space_is_not_near(
    line: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    line.add([{"role": "user", "content": text} for text in said()[:8]], infer=False)
    line.drain_all()
    gone, expired, foreign, *rest = line.memories()
    work = work_of(line, Scope(user_id="ann"))
    with line.database.operations() as tx:
        expire = sql("UPDATE memories SET expiration_date = '2020-01-01' WHERE id = :id")
        tx.connection.execute(expire, {"id": expired.id})
        tx.connection.execute(sql("UPDATE memories SET embedding = 'short' WHERE id = :id"), {"id": foreign.id})
    whole, indexed = both(line, work, monkeypatch)
    with line.database.operations() as tx:
        tx.connection.execute(sql("UPDATE memories SET state = 'deleted' WHERE id = :id"), {"id": gone.id})
    asked = line.runtime.models.embedder.embed_passages([gone.memory])
    for around in (whole, indexed):
        (found,) = around.nearest(asked, 100)
        assert {memory.id for memory in found} == {row.id for row in rest}


def test_nothing_is_near_in_an_empty_scope(line: Pipeline) -> None:
    work = work_of(line, Scope(user_id="nobody"))
    with line.database.statements(line.project) as tx:
        around = survey(line.runtime, tx, work)
    assert around.marks == {}
    assert around.nearest(np.ones((2, 4), np.float32), 5) == [[], []]
