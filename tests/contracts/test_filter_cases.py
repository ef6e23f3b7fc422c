"""The documented filters and cases from the field on PostgreSQL, Qdrant and the evaluator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from core.adapters.sql.database import SqlDatabase
from core.domain.filter_parse import parse
from core.domain.filter_scope import require_entity, scoped
from core.domain.ids import new_id
from core.domain.memory import Memory, MemoryState
from core.domain.scope import Scope
from tests.contracts.filter_world import IndexPlace, World, world_of

PROJECT = new_id()


def row(name: str, scope: Scope, **fields: Any) -> Memory:
    """`name` is the memory's hash, by which the tests speak of it."""
    made = datetime(2025, 6, 20, 12, tzinfo=UTC)
    base = Memory(new_id(), PROJECT, scope, "text", name, MemoryState.ACTIVE, made, made)
    return replace(base, **fields)


ROWS = [
    # who
    row("u", Scope(user_id="u")),
    row("u+run", Scope(user_id="u", run_id="g")),
    row("u+app", Scope(user_id="u", app_id="c")),
    row("u+run+app", Scope(user_id="u", run_id="g", app_id="c")),
    row("u+bot", Scope(user_id="u", agent_id="bot")),  # verbatim rows alone carry both
    row("v", Scope(user_id="v")),
    row("v+run", Scope(user_id="v", run_id="g")),
    row("bot", Scope(agent_id="bot")),
    row("bot+run", Scope(agent_id="bot", run_id="g")),
    row("old+app", Scope(agent_id="old", app_id="c")),
    # what
    row("w-finance", Scope(user_id="w"), categories=["Finance", "bank"], memory="Pay the Invoice 17"),
    row("w-health", Scope(user_id="w"), categories=["health"], memory="invoice of the dentist"),
    row("w-spam", Scope(user_id="w"), categories=["spam"], metadata={"source": "email", "type": "semantic"}),
    row("w-none", Scope(user_id="w"), metadata={"source": "chat", "type": "episodic"}),
    row("w-july", Scope(user_id="w"), created_at=datetime(2024, 7, 31, 22, tzinfo=UTC)),
    # C23
    row("alice", Scope(user_id="alice"), memory="locker code 4417"),
    row("bob", Scope(user_id="bob"), memory="locker code 9002"),
    # C25
    row("m1", Scope(user_id="m"), metadata={"cat": "a", "n": 1, "d": "2024-01-10", "tags": ["x"], "on": True}),
    row("m2", Scope(user_id="m"), metadata={"cat": "b", "n": 2.5, "on": 1}),
    row("m3", Scope(user_id="m"), metadata={}),
    # C26
    row(
        "d15", Scope(user_id="d"), created_at=datetime(2025, 6, 15, 9, tzinfo=UTC), expiration_date=date(2025, 6, 15)
    ),
    row(
        "d20", Scope(user_id="d"), created_at=datetime(2025, 6, 20, 9, tzinfo=UTC), expiration_date=date(2025, 6, 20)
    ),
    row("d26", Scope(user_id="d"), created_at=datetime(2025, 6, 26, 9, tzinfo=UTC)),
]
ID_OF = {memory.hash: memory.id for memory in ROWS}
NAME_OF = {memory.id: memory.hash for memory in ROWS}


@pytest.fixture(scope="module")
def world(database: str, filter_place: IndexPlace) -> Iterator[World]:
    store = SqlDatabase(database)
    with world_of(ROWS, store, filter_place) as made:
        yield made
    store.close()


def found(world: World, raw: dict[str, Any], *, strict: bool) -> set[str]:
    node = parse(raw)
    require_entity(node)
    return {NAME_OF[id_] for id_ in world.assert_one_answer(scoped(node, strict))}


U = {"u", "u+run", "u+app", "u+run+app", "u+bot"}
RUN = {"u+run", "u+run+app", "v+run", "bot+run"}
APP = {"u+app", "u+run+app", "old+app"}
W = {"w-finance", "w-health", "w-spam", "w-none", "w-july"}

# filter, rows without the scope rule, rows with it (None: the same)
WHO: list[tuple[dict[str, Any], set[str], set[str] | None]] = [
    ({"user_id": "u"}, U, {"u"}),
    ({"userId": "u"}, U, {"u"}),
    ({"AND": [{"user_id": "u"}]}, U, {"u"}),
    ({"OR": [{"user_id": "u"}]}, U, None),
    ({"AND": [{"user_id": "u"}, {"run_id": "*"}]}, {"u+run", "u+run+app"}, None),
    ({"AND": [{"user_id": "u"}, {"run_id": "*"}, {"app_id": "*"}]}, {"u+run+app"}, None),
    ({"AND": [{"user_id": "*"}, {"run_id": "g"}]}, {"u+run", "u+run+app", "v+run"}, None),
    ({"AND": [{"user_id": {"in": ["u", "v", "nobody"]}}]}, U | {"v", "v+run"}, None),
    ({"OR": [{"user_id": "u"}, {"run_id": "g"}]}, U | RUN, None),
    (
        {"OR": [{"user_id": "v"}, {"agent_id": {"in": ["bot", "old"]}}]},
        {"v", "v+run", "u+bot", "bot", "bot+run", "old+app"},
        None,
    ),
    ({"AND": [{"user_id": "u"}, {"agent_id": "bot"}]}, {"u+bot"}, {"u+bot"}),
    ({"AND": [{"user_id": "v"}, {"agent_id": "bot"}]}, set(), set()),
    ({"AND": [{"agent_id": "*"}, {"agent_id": {"ne": "old"}}]}, {"u+bot", "bot", "bot+run"}, None),
    ({"AND": [{"agent_id": "bot"}, {"run_id": "*"}]}, {"bot+run"}, None),
    ({"AND": [{"app_id": "c"}, {"OR": [{"user_id": "*"}, {"agent_id": "*"}]}]}, APP, None),
    ({"AND": [{"app_id": "c"}], "OR": [{"user_id": "*"}, {"agent_id": "*"}]}, APP, None),
    ({"AND": [{"user_id": "u", "run_id": "g"}]}, {"u+run", "u+run+app"}, {"u+run"}),
    ({"AND": [{"user_id": "u"}, {"app_id": {"exists": True}}]}, {"u+app", "u+run+app"}, None),
    ({"user_id": "u", "app_id": "*"}, {"u+app", "u+run+app"}, None),
    ({"user_id": "u", "agent_id": {"ne": "bot"}}, {"u", "u+run", "u+app", "u+run+app"}, {"u"}),
    ({"user_id": "u", "NOT": {"run_id": "*"}}, {"u", "u+app", "u+bot"}, None),
    ({"user_id": "alice", "AND": [{"user_id": "bob"}]}, set(), set()),
    ({"user_id": "' OR 1=1 --"}, set(), set()),
]


@pytest.mark.parametrize(("raw", "loose", "strict"), WHO, ids=[str(case[0]) for case in WHO])
def test_whose_rows_a_filter_selects(
    world: World, raw: dict[str, Any], loose: set[str], strict: set[str] | None
) -> None:
    assert found(world, raw, strict=False) == loose
    assert found(world, raw, strict=True) == (loose if strict is None else strict)


def test_the_wildcard_selects_every_row_that_has_the_field(world: World) -> None:
    everybody = {memory.hash for memory in ROWS if memory.scope.user_id}
    assert found(world, {"AND": [{"user_id": "*"}]}, strict=True) == everybody
    assert found(world, {"OR": [{"user_id": "*"}]}, strict=True) == everybody


WHAT: list[tuple[dict[str, Any], set[str]]] = [
    ({"categories": {"in": ["finance"]}}, {"w-finance"}),
    ({"categories": {"contains": "FIN"}}, {"w-finance"}),
    ({"NOT": {"categories": {"in": ["spam", "test"]}}}, W - {"w-spam"}),
    ({"NOT": {"OR": [{"categories": {"in": ["spam"]}}, {"categories": {"in": ["test"]}}]}}, W - {"w-spam"}),
    ({"OR": [{"categories": {"in": ["finance"]}}, {"categories": {"in": ["health"]}}]}, {"w-finance", "w-health"}),
    ({"metadata": {"source": "email"}}, {"w-spam"}),
    ({"OR": [{"metadata": {"type": "semantic"}}, {"metadata": {"type": "episodic"}}]}, {"w-spam", "w-none"}),
    ({"keywords": {"icontains": "invoice"}}, {"w-finance", "w-health"}),
    ({"keywords": {"contains": "Invoice"}}, {"w-finance"}),
    ({"memory_ids": [str(ID_OF["w-july"]), str(ID_OF["bob"])]}, {"w-july"}),
    ({"AND": [{"created_at": {"gte": "2024-07-01"}}, {"created_at": {"lt": "2024-08-01"}}]}, {"w-july"}),
    ({"created_at": {"gte": "2024-07-01", "lte": "2024-07-31"}}, {"w-july"}),
    ({"created_at": "2024-07-31"}, {"w-july"}),
    ({"created_at": {"ne": "2024-07-31"}}, W - {"w-july"}),
]


@pytest.mark.parametrize(("raw", "names"), WHAT, ids=[str(case[0]) for case in WHAT])
def test_which_rows_of_a_user_a_filter_selects(world: World, raw: dict[str, Any], names: set[str]) -> None:
    assert found(world, {"user_id": "w", **raw}, strict=True) == names
    assert found(world, {"AND": [{"user_id": "w"}, raw]}, strict=False) == names


# C25: condition, which of m1 (cat a, n 1, d, tags [x], on true), m2 (cat b, n 2.5, on 1), m3 (nothing)
METADATA: list[tuple[dict[str, Any], set[str]]] = [
    ({"cat": "a"}, {"m1"}),
    ({"cat": {"eq": "a"}}, {"m1"}),
    ({"cat": {"ne": "a"}}, {"m2", "m3"}),
    ({"cat": {"contains": ""}}, {"m1", "m2"}),
    ({"n": 1}, {"m1"}),
    ({"n": 1.0}, {"m1"}),
    ({"n": "1"}, set()),
    ({"n": True}, set()),
    ({"n": 2.5}, {"m2"}),
    ({"n": {"ne": 2.5}}, {"m1", "m3"}),
    ({"n": {"contains": 1}}, set()),
    ({"on": True}, {"m1"}),
    ({"on": 1}, {"m2"}),
    ({"d": {"contains": "2024-01"}}, {"m1"}),
    ({"d": {"contains": "%"}}, set()),
    ({"tags": "x"}, {"m1"}),
    ({"tags": {"eq": ["x"]}}, {"m1"}),
    ({"tags": {"contains": "x"}}, {"m1"}),
    ({"tags": {"contains": ["x"]}}, set()),
    ({"tags": {"ne": "x"}}, {"m2", "m3"}),
    ({"absent": None}, set()),
    ({"absent": {"ne": "x"}}, {"m1", "m2", "m3"}),
    ({"absent": {"contains": "x"}}, set()),
    ({"cat": {"ne": "a", "contains": "b"}}, {"m2"}),
    ({"cat": "a", "n": 2.5}, set()),
]


@pytest.mark.parametrize(("condition", "names"), METADATA, ids=[str(case[0]) for case in METADATA])
def test_the_truth_table_of_metadata(world: World, condition: dict[str, Any], names: set[str]) -> None:
    everyone = {"m1", "m2", "m3"}
    assert found(world, {"user_id": "m", "metadata": condition}, strict=True) == names
    assert found(world, {"user_id": "m", "NOT": {"metadata": condition}}, strict=True) == everyone - names
    nested = {"AND": [{"user_id": "m"}, {"OR": [{"metadata": condition}, {"metadata": {"cat": "zzz"}}]}]}
    assert found(world, nested, strict=True) == names


# C26
RANGES = [
    ("2025-06-18T00:00:00Z", "2025-06-25T00:00:00Z"),
    ("2025-06-18T00:00:00+08:00", "2025-06-25T00:00:00+08:00"),
    ("2025-06-18T00:00:00", "2025-06-25T00:00:00"),
    ("2025-06-18", "2025-06-25"),
    ("2025-06-20", "2025-06-20"),
    ("2025-06-20T09:00:00Z", "2025-06-20T17:00:00+08:00"),
]


@pytest.mark.parametrize(("first", "last"), RANGES, ids=str)
def test_a_range_of_dates_selects_the_middle_row(world: World, first: str, last: str) -> None:
    assert found(world, {"user_id": "d", "created_at": {"gte": first, "lte": last}}, strict=True) == {"d20"}


def test_a_date_bound_covers_its_whole_day(world: World) -> None:
    assert found(world, {"user_id": "d", "created_at": {"lte": "2025-06-20"}}, strict=True) == {"d15", "d20"}
    assert found(world, {"user_id": "d", "created_at": {"gt": "2025-06-20"}}, strict=True) == {"d26"}
    assert found(world, {"user_id": "d", "created_at": {"lt": "2025-06-20"}}, strict=True) == {"d15"}


def test_no_expiration_date_is_null_and_answers_to_no_order(world: World) -> None:
    assert found(world, {"user_id": "d", "expiration_date": {"gte": "2000-01-01"}}, strict=True) == {"d15", "d20"}
    assert found(world, {"user_id": "d", "expiration_date": {"ne": "2025-06-15"}}, strict=True) == {"d20", "d26"}
    assert found(world, {"user_id": "d", "NOT": {"expiration_date": "*"}}, strict=True) == {"d26"}


INJECTIONS = [
    "' OR '1'='1",
    "'; DROP TABLE memories; --",
    "\"}'::jsonb",
    "%",
    "_",
    "\\",
    "$1",
    ":x",
    "%(x)s",
    "{}",
    "🙂",
]


@pytest.mark.parametrize("poison", INJECTIONS)
def test_what_a_caller_writes_is_never_sql(world: World, poison: str) -> None:
    raw_filters: list[dict[str, Any]] = [
        {"user_id": poison},
        {"user_id": "u", "metadata": {poison: poison}},
        {"user_id": "u", "metadata": {poison: {"contains": poison}}},
        {"user_id": "u", "categories": {"in": [poison]}},
        {"user_id": "u", "categories": {"contains": poison}},
        {"user_id": "u", "keywords": {"contains": poison}},
        {"user_id": "u", "text": {"icontains": poison}},
        {"user_id": {"in": [poison]}},
    ]
    assert [found(world, raw, strict=False) for raw in raw_filters] == [set()] * len(raw_filters)
    assert found(world, {"user_id": "u"}, strict=False) == U


def test_another_project_is_out_of_reach_of_any_filter(world: World) -> None:
    """The row-level wall: the same filter in another project's transaction finds nothing."""
    lone = replace(ROWS[0], id=new_id(), project_id=new_id())
    with world.database.transaction(lone.project_id) as transaction:
        transaction.memories.add([lone])
    elsewhere = replace(world, memories=[lone])
    everybody = parse({"OR": [{"user_id": "*"}]})
    assert elsewhere.in_postgres(everybody) == {lone.id}
    assert elsewhere.in_index(everybody, {}) == set()
