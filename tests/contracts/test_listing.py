"""Listing on PostgreSQL: pages, order, what is shown by default, and what the index leaves to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from core.adapters.sql.database import SqlDatabase
from core.adapters.sql.project_store import Project
from core.domain.errors import MemlaneError
from core.domain.filter_parse import parse
from core.domain.filters import And, Cond
from core.domain.ids import new_id
from core.domain.memory import Memory, MemoryState
from core.domain.narrowing import Narrowing
from core.domain.paging import Window
from core.domain.scope import Scope
from core.services.listing import ListQuery, list_memories
from core.services.resolve_leaves import resolve_leaves

NOW = datetime(2025, 7, 1, 12, tzinfo=UTC)
USER = {"user_id": "u"}


@pytest.fixture(scope="module")
def store(database: str) -> Iterator[SqlDatabase]:
    opened = SqlDatabase(database)
    yield opened
    opened.close()


class Shelf:
    """The memories of one fresh project."""

    def __init__(self, store: SqlDatabase) -> None:
        self.store = store
        self.project_id = new_id()

    def put(self, name: str, **fields: Any) -> Memory:
        """`name` becomes the memory's hash and, unless given, its text."""
        made = fields.pop("created_at", NOW)
        scope = fields.pop("scope", Scope(user_id="u"))
        memory = Memory(new_id(), self.project_id, scope, name, name, MemoryState.ACTIVE, made, made)
        memory = replace(memory, **fields)
        with self.store.transaction(self.project_id) as tx:
            tx.memories.add([memory])
        return memory

    def names(self, filters: object = USER, **narrowing: Any) -> list[str]:
        query = ListQuery(self.project_id, filters, NOW, Narrowing(**narrowing))
        return [memory.hash for memory in list_memories(self.store, query).items]


@pytest.fixture
def shelf(store: SqlDatabase) -> Shelf:
    return Shelf(store)


def test_57_rows_make_pages_of_20_20_and_17_newest_first(shelf: Shelf) -> None:
    for number in range(57):
        shelf.put(f"{number:02}", created_at=NOW + timedelta(seconds=number // 3), position=number)
    query = ListQuery(shelf.project_id, USER, NOW, window=Window(1, 20))
    pages = [list_memories(shelf.store, replace(query, window=Window(number, 20))) for number in (1, 2, 3)]
    assert [len(page.items) for page in pages] == [20, 20, 17]
    assert [page.count for page in pages] == [57, 57, 57]
    assert [page.has_next for page in pages] == [True, True, False]
    listed = [memory.hash for page in pages for memory in page.items]
    assert listed == [f"{number:02}" for number in reversed(range(57))]
    for number in (4, 99):
        with pytest.raises(MemlaneError) as caught:
            list_memories(shelf.store, replace(query, window=Window(number, 20)))
        assert caught.value.code == "page_invalid"


def test_pages_do_not_shift_while_rows_are_added(shelf: Shelf) -> None:
    for number in range(5):
        shelf.put(f"old{number}", created_at=NOW + timedelta(seconds=number))
    query = ListQuery(shelf.project_id, USER, NOW, window=Window(1, 2))
    first = list_memories(shelf.store, query)
    shelf.put("new", created_at=NOW + timedelta(hours=1))
    rest = [
        list_memories(shelf.store, replace(query, window=Window(number, 2), until=first.until)) for number in (2, 3)
    ]
    listed = [memory.hash for page in [first, *rest] for memory in page.items]
    assert listed == ["old4", "old3", "old2", "old1", "old0"]
    assert [page.count for page in rest] == [5, 5]
    assert shelf.names()[0] == "new"


def test_an_unknown_user_has_one_empty_page(shelf: Shelf) -> None:
    page = list_memories(shelf.store, ListQuery(shelf.project_id, {"user_id": "nobody"}, NOW))
    assert (page.items, page.count, page.has_next, page.has_previous) == ([], 0, False, False)


def test_another_projects_rows_are_never_listed(shelf: Shelf, store: SqlDatabase) -> None:
    shelf.put("ours")
    other = Shelf(store)
    other.put("theirs")
    assert shelf.names({"OR": [{"user_id": "*"}]}) == ["ours"]


def test_expired_rows_are_hidden_from_the_day_after_on(shelf: Shelf) -> None:
    today = NOW.date()
    for name, day in (("yesterday", today - timedelta(days=1)), ("today", today), ("tomorrow", date(2025, 7, 2))):
        shelf.put(name, expiration_date=day)
    shelf.put("marked", state=MemoryState.EXPIRED, expiration_date=date(2025, 6, 1))
    shelf.put("never")
    assert set(shelf.names()) == {"today", "tomorrow", "never"}
    assert set(shelf.names(show_expired=True)) == {"yesterday", "today", "tomorrow", "marked", "never"}


def test_superseded_rows_are_shown_and_corrected_merged_and_deleted_ones_are_not(shelf: Shelf) -> None:
    shelf.put("active")
    shelf.put("changed", state=MemoryState.SUPERSEDED, replaced_kind="changed")
    shelf.put("corrected", state=MemoryState.SUPERSEDED, replaced_kind="corrected")
    shelf.put("merged", state=MemoryState.MERGED)
    shelf.put("deleted", state=MemoryState.DELETED)
    assert set(shelf.names()) == {"active", "changed"}
    assert set(shelf.names(latest_only=True)) == {"active"}
    assert set(shelf.names(include_merged=True)) == {"active", "changed", "corrected", "merged"}
    assert set(shelf.names(include_merged=True, latest_only=True)) == {"active", "merged"}


def test_what_stands_beside_the_filter_narrows_it(shelf: Shelf) -> None:
    shelf.put("a", memory="Green TEA 50%", categories=["Food"], metadata={"n": 1, "tags": ["x"]})
    shelf.put("b", memory="coffee", categories=["travel"], created_at=datetime(2025, 6, 20, 23, 59, tzinfo=UTC))
    shelf.put("c", memory="water", created_at=datetime(2025, 6, 21, tzinfo=UTC), metadata={"nested": {"k": [1]}})
    assert shelf.names(keywords="tea 50%") == ["a"]
    assert shelf.names(keywords="t_a") == []
    assert set(shelf.names(categories=["food", "Travel"])) == {"a", "b"}
    assert shelf.names(metadata={"n": 1, "tags": "x"}) == ["a"]
    assert shelf.names(metadata={"n": {"contains": 1}}) == []
    assert shelf.names(metadata={"nested": {"k": [1]}}) == ["c"]
    assert shelf.names(start_date="2025-06-20", end_date="2025-06-20") == ["b"]
    assert shelf.names(end_date="2025-06-21T00:00:00Z") == ["c", "b"]
    assert shelf.names({**USER, "NOT": {"categories": "food"}}, start_date="2025-06-21") == ["c"]


@pytest.mark.parametrize(
    ("narrowing", "pointer"),
    [
        ({"start_date": "soon"}, "start_date"),
        ({"end_date": "2025-02-30"}, "end_date"),
        ({"keywords": "\x00"}, "keywords"),
        ({"categories": ["x", "\x00"]}, "categories[1]"),
        ({"metadata": {"k": {"gt": 1}}}, "metadata.k"),
        ({"metadata": {"k": "\x00"}}, "metadata.k"),
    ],
)
def test_wrong_values_beside_the_filter_are_named(shelf: Shelf, narrowing: dict[str, Any], pointer: str) -> None:
    with pytest.raises(MemlaneError) as caught:
        shelf.names(**narrowing)
    assert (caught.value.code, caught.value.pointer) == ("validation_failed", pointer)


@pytest.mark.parametrize(
    ("filters", "code"),
    [
        (None, "filters_missing"),
        ({}, "filters_missing"),
        ({"categories": "x"}, "filters_unscoped"),
        ({"user_id": "u", "bogus_key": "z"}, "filters_invalid"),
    ],
)
def test_a_listing_needs_a_good_filter(shelf: Shelf, filters: object, code: str) -> None:
    with pytest.raises(MemlaneError) as caught:
        shelf.names(filters)
    assert caught.value.code == code


def test_a_users_listing_leaves_sessions_out_unless_the_project_says_otherwise(shelf: Shelf) -> None:
    _make_project(shelf.store, shelf.project_id, {})
    loose = Shelf(shelf.store)
    _make_project(loose.store, loose.project_id, {"strict_scoping": False})
    for place in (shelf, loose):
        place.put("alone")
        place.put("in run", scope=Scope(user_id="u", run_id="r"))
    assert shelf.names() == ["alone"]
    assert set(loose.names()) == {"alone", "in run"}
    query = ListQuery(shelf.project_id, USER, NOW, strict=False)
    assert list_memories(shelf.store, query).count == 2


def test_what_the_index_cannot_answer_is_resolved_within_what_it_can(shelf: Shelf) -> None:
    mine = shelf.put("tea")
    shelf.put("coffee")
    shelf.put("tea of another", memory="tea", scope=Scope(user_id="v"))
    shelf.put("deleted tea", memory="tea", state=MemoryState.DELETED)
    where = parse({"user_id": "u", "keywords": {"contains": "tea"}})
    with shelf.store.transaction(shelf.project_id) as tx:
        leaf = Cond("keywords", "contains", "tea")
        assert resolve_leaves(tx, shelf.project_id, where) == {leaf: [mine.id]}
        assert resolve_leaves(tx, shelf.project_id, And((Cond("user_id", "eq", "u"),))) == {}


def _make_project(store: SqlDatabase, project_id: UUID, settings: dict[str, Any]) -> None:
    organization = new_id()
    with store.operations() as tx:
        tx.projects.add_organization(organization, "org", NOW)
        tx.projects.add_project(Project(project_id, organization, "project", None, NOW, NOW, settings))
