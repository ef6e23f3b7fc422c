"""One filter, three readers: PostgreSQL, Qdrant and plain Python select the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.adapters.qdrant_filter import compile_filter
from core.adapters.sql.database import SqlDatabase
from core.adapters.sql.filter_sql import compile_sql
from core.domain.filter_parse import parse
from core.domain.filter_scope import scoped
from core.domain.filters import And, Cond, Not, in_states, unexpired
from core.domain.ids import new_id
from tests.contracts.filter_samples import DAYS, random_memories, raw_filters
from tests.contracts.filter_world import IndexPlace, World, world_of

MEMORIES = random_memories(new_id(), 150, seed=2025)


@pytest.fixture(scope="module")
def world(database: str, filter_place: IndexPlace) -> Iterator[World]:
    store = SqlDatabase(database)
    with world_of(MEMORIES, store, filter_place) as made:
        yield made
    store.close()


@settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(raw=raw_filters([memory.id for memory in MEMORIES]), strict=st.booleans())
def test_random_filters_select_the_same_rows_everywhere(world: World, raw: dict[str, Any], strict: bool) -> None:
    world.assert_one_answer(scoped(parse(raw), strict))


@pytest.mark.parametrize("day", DAYS, ids=str)
def test_what_services_add_selects_the_same_rows_everywhere(world: World, day: Any) -> None:
    live = And((unexpired(day), in_states("active", "superseded")))
    assert world.in_python(live)
    for node in (
        live,
        Not(live),
        Cond("event_date", "gte", day),
        Cond("state", "ne", "deleted"),
        Cond("replaced_kind", "ne", "corrected"),
    ):
        world.assert_one_answer(node)


def test_a_leaf_of_the_index_that_nobody_resolved_is_an_error() -> None:
    with pytest.raises(ValueError, match="resolve it to ids first"):
        compile_filter(parse({"user_id": "u", "keywords": {"contains": "tea"}}))


def test_a_single_scope_is_one_comparison(world: World) -> None:
    scope = next(memory.scope for memory in world.memories if memory.scope.user_id == "u")
    node = scoped(parse({field: id_ for field, id_ in scope.as_dict().items() if id_}), strict=True)
    assert [condition.key for condition in compile_filter(node).must or []] == ["scope_key"]  # type: ignore[union-attr]
    assert "scope_key" in str(compile_sql(node))
    assert "user_id" not in str(compile_sql(node))
    assert world.in_python(node)
