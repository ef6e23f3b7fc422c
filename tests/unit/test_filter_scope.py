"""The scope rule: when unmentioned entity fields must be null, and when not."""

from __future__ import annotations

from typing import Any

import pytest

from core.domain.errors import MemlaneError
from core.domain.filter_parse import parse
from core.domain.filter_scope import pinned, require_entity, scoped, single_scope
from core.domain.filters import Cond, conjuncts
from core.domain.scope import Scope


def nulls(raw: Any, strict: bool = True) -> set[str]:
    """The entity fields that the rule adds as "must be null"."""
    return {
        part.field for part in conjuncts(scoped(parse(raw), strict)) if isinstance(part, Cond) and part.op == "null"
    }


NARROWED: list[tuple[Any, set[str]]] = [
    ({"user_id": "u"}, {"agent_id", "app_id", "run_id"}),
    ({"AND": [{"user_id": "u"}]}, {"agent_id", "app_id", "run_id"}),
    ({"AND": [{"AND": [{"user_id": "u"}]}], "run_id": "r"}, {"agent_id", "app_id"}),
    ({"user_id": "u", "agent_id": {"ne": "a"}}, {"app_id", "run_id"}),
    ({"user_id": "u", "categories": {"in": ["x"]}}, {"agent_id", "app_id", "run_id"}),
    ({"user_id": "u", "OR": [{"categories": "x"}, {"categories": "y"}]}, {"agent_id", "app_id", "run_id"}),
    ({"user_id": "u", "NOT": {"metadata": {"k": 1}}}, {"agent_id", "app_id", "run_id"}),
    ({"user_id": "u", "agent_id": "a", "app_id": "p", "run_id": "r"}, set()),
]
LIFTED: list[Any] = [
    {"OR": [{"user_id": "u"}]},
    {"user_id": "*"},
    {"user_id": "u", "run_id": "*"},
    {"user_id": {"in": ["u"]}},
    {"user_id": "u", "NOT": {"agent_id": "a"}},
    {"user_id": "u", "OR": [{"categories": "x"}, {"AND": [{"run_id": "r"}]}]},
]


@pytest.mark.parametrize(("raw", "expected"), NARROWED, ids=str)
def test_a_conjunction_of_equalities_pins_the_other_fields_to_null(raw: Any, expected: set[str]) -> None:
    assert nulls(raw) == expected
    assert nulls(raw, strict=False) == set()


@pytest.mark.parametrize("raw", LIFTED, ids=str)
def test_or_not_in_and_wildcard_on_an_entity_lift_the_rule(raw: Any) -> None:
    assert scoped(parse(raw), strict=True) == parse(raw)


def test_the_rule_applied_twice_changes_nothing() -> None:
    once = scoped(parse({"user_id": "u"}), strict=True)
    assert scoped(once, strict=True) == once


def test_a_pinned_scope_is_found_with_what_remains() -> None:
    node = scoped(parse({"user_id": "u", "run_id": "r", "categories": "x"}), strict=True)
    assert single_scope(node) == Scope(user_id="u", run_id="r")
    assert pinned(node) == (Scope(user_id="u", run_id="r"), Cond("categories", "in", ("x",)))


@pytest.mark.parametrize(
    "raw",
    [
        {"OR": [{"user_id": "u"}]},
        {"user_id": "u", "run_id": "*"},
        {"user_id": "u", "agent_id": {"ne": "a"}},
        {"user_id": "alice", "AND": [{"user_id": "bob"}]},
    ],
    ids=str,
)
def test_a_free_or_contradictory_field_is_no_single_scope(raw: Any) -> None:
    assert single_scope(scoped(parse(raw), strict=True)) is None


def test_without_the_rule_one_id_is_no_single_scope() -> None:
    assert single_scope(scoped(parse({"user_id": "u"}), strict=False)) is None


POSITIVE = [
    {"user_id": "u"},
    {"app_id": {"in": ["p"]}},
    {"OR": [{"user_id": "*"}]},
    {"NOT": {"categories": "x"}, "run_id": {"exists": True}},
]
UNSCOPED = [
    {"categories": "x"},
    {"user_id": {"ne": "u"}},
    {"NOT": {"user_id": "u"}},
    {"NOT": {"NOT": {"user_id": "u"}}},
    {"NOT": {"categories": {"in": ["spam"]}}},
    {"AND": [{"created_at": {"gte": "2025-01-01"}}, {"created_at": {"lt": "2025-02-01"}}]},
    {"OR": [{"metadata": {"type": "a"}}, {"metadata": {"type": "b"}}]},
]


@pytest.mark.parametrize("raw", POSITIVE, ids=str)
def test_one_positive_entity_condition_is_enough(raw: Any) -> None:
    require_entity(parse(raw))


@pytest.mark.parametrize("raw", UNSCOPED, ids=str)
def test_a_filter_that_names_nobody_is_refused(raw: Any) -> None:
    with pytest.raises(MemlaneError) as caught:
        require_entity(parse(raw))
    assert caught.value.code == "filters_unscoped"
    assert caught.value.as_dict()["message"] == "One of the filters: app_id, user_id, agent_id, run_id is required!"
