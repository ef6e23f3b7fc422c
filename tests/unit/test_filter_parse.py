"""The filter grammar: what is understood, and what is refused with which words."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import pytest

from core.domain.errors import MemlaneError
from core.domain.filter_parse import MAX_DEPTH, MAX_NODES, parse
from core.domain.filters import And, Cond, Node, Not, Or

USER = Cond("user_id", "eq", "u")
ID = "0190b0c0-0000-7000-8000-000000000001"


def moment(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type, misc]


UNDERSTOOD: list[tuple[Any, Node]] = [
    ({"user_id": "u"}, USER),
    ({"userId": "u", "runId": "r"}, And((USER, Cond("run_id", "eq", "r")))),
    ({"AND": [{"user_id": "u"}]}, USER),
    ({"OR": [{"user_id": "u"}]}, Or((USER,))),  # kept: it lifts the scope rule
    ({"AND": [{"user_id": "u", "agent_id": "*"}]}, And((USER, Cond("agent_id", "present")))),
    ({"AND": [{"user_id": "u"}], "OR": [{"run_id": "r"}]}, And((USER, Or((Cond("run_id", "eq", "r"),))))),
    ({"NOT": {"user_id": "u"}}, Not(USER)),
    ({"NOT": [{"user_id": "u"}, {"run_id": "r"}]}, Not(Or((USER, Cond("run_id", "eq", "r"))))),
    ({"user_id": {"eq": "u"}}, USER),
    ({"user_id": {"eq": "*"}}, Cond("user_id", "present")),
    ({"app_id": {"exists": True}}, Cond("app_id", "present")),
    ({"user_id": {"ne": "u"}}, Cond("user_id", "ne", "u")),
    ({"user_id": {"in": ["a", "b", "a"]}}, Cond("user_id", "in", ("a", "b"))),
    ({"user_id": {"in": []}}, Cond("user_id", "in", ())),
    ({"categories": "food"}, Cond("categories", "in", ("food",))),
    ({"categories": ["food", "travel"]}, Cond("categories", "in", ("food", "travel"))),
    ({"categories": {"contains": "foo"}}, Cond("categories", "contains", "foo")),
    ({"categories": "*"}, Cond("categories", "present")),
    ({"memory_ids": [ID]}, Cond("memory_ids", "in", (UUID(ID),))),
    ({"memory_ids": {"in": [ID.upper()]}}, Cond("memory_ids", "in", (UUID(ID),))),
    ({"keywords": {"contains": "Tea"}}, Cond("keywords", "contains", "Tea")),
    ({"text": "tea"}, Cond("text", "icontains", "tea")),
    ({"keywords_search": {"icontains": "tea"}}, Cond("keywords_search", "icontains", "tea")),
    ({"metadata": {"n": 1.0}}, Cond("metadata", "eq", "1", "n")),
    ({"metadata": {"n": True}}, Cond("metadata", "eq", "true", "n")),
    ({"metadata": {"k": "*"}}, Cond("metadata", "eq", '"*"', "k")),
    (
        {"metadata": {"a": {"ne": None}, "b": {"contains": "x", "eq": ["x"]}}},
        And(
            (
                Cond("metadata", "ne", "null", "a"),
                Cond("metadata", "contains", '"x"', "b"),
                Cond("metadata", "eq", '["x"]', "b"),
            )
        ),
    ),
    ({"created_at": {"gte": "2025-06-18T00:00:00Z"}}, Cond("created_at", "gte", moment(2025, 6, 18))),
    ({"created_at": {"gt": "2025-06-18T10:00:00+08:00"}}, Cond("created_at", "gt", moment(2025, 6, 18, 2))),
    (
        {"created_at": {"lt": "2025-06-18 10:00:00.5"}},
        Cond("created_at", "lt", moment(2025, 6, 18, 10, 0, 0, 500_000)),
    ),
    ({"timestamp": {"gte": "2025-06-18"}}, Cond("timestamp", "gte", moment(2025, 6, 18))),
    ({"created_at": {"lt": "2025-06-18"}}, Cond("created_at", "lt", moment(2025, 6, 18))),
    ({"created_at": {"lte": "2025-06-18"}}, Cond("created_at", "lte", moment(2025, 6, 18, 23, 59, 59, 999_999))),
    ({"created_at": {"gt": "2025-06-18"}}, Cond("created_at", "gt", moment(2025, 6, 18, 23, 59, 59, 999_999))),
    ({"created_at": {"lte": "9999-12-31"}}, Cond("created_at", "lte", moment(9999, 12, 31, 23, 59, 59, 999_999))),
    ({"updated_at": "2025-06-18T10:00:00"}, Cond("updated_at", "eq", moment(2025, 6, 18, 10))),
    ({"updated_at": {"ne": "2025-06-18T10:00:00Z"}}, Not(Cond("updated_at", "eq", moment(2025, 6, 18, 10)))),
    ({"expiration_date": {"lte": "2025-06-18T22:00:00-05:00"}}, Cond("expiration_date", "lte", date(2025, 6, 19))),
    ({"expiration_date": {"in": ["2025-06-18"]}}, Cond("expiration_date", "in", (date(2025, 6, 18),))),
    ({"expiration_date": "*"}, Cond("expiration_date", "present")),
]


@pytest.mark.parametrize(("raw", "node"), UNDERSTOOD, ids=[str(raw) for raw, _ in UNDERSTOOD])
def test_the_documented_forms_are_understood(raw: Any, node: Node) -> None:
    assert parse(raw) == node


def test_a_bare_date_is_its_whole_day() -> None:
    day = And(
        (
            Cond("created_at", "gte", moment(2025, 6, 18)),
            Cond("created_at", "lte", moment(2025, 6, 18, 23, 59, 59, 999_999)),
        )
    )
    assert parse({"created_at": "2025-06-18"}) == day
    assert parse({"created_at": {"in": ["2025-06-18"]}}) == Or((day,))
    assert parse({"created_at": {"ne": "2025-06-18"}}) == Not(day)


REFUSED: list[tuple[Any, str]] = [
    (
        {"bogus_key": "z"},
        "Top-level key must be a logical operator or an allowed field: ['AND', 'OR', 'NOT', 'user_id'",
    ),
    ({"user_id": "u", "metadata.trip": "x"}, "'metadata.trip'"),
    ({"and": [{"user_id": "u"}]}, "'and'"),
    ({"state": "active"}, "'state'"),
    ({"event_date": "2025-01-01"}, "'event_date'"),
    (
        {"created_at": {">=": "2025-01-01"}},
        "Unknown operator '>=' on 'created_at'; allowed: gt, gte, lt, lte, ne, in",
    ),
    ({"user_id": {"nin": ["u"]}}, "Unknown operator 'nin' on 'user_id'"),
    ({"user_id": {"gt": "u"}}, "Operator 'gt' is not allowed on 'user_id'"),
    ({"created_at": {"eq": "2025-01-01"}}, "Operator 'eq' is not allowed on 'created_at'"),
    ({"expiration_date": {"eq": "2025-01-01"}}, "Operator 'eq' is not allowed on 'expiration_date'"),
    ({"categories": {"eq": "food"}}, "Operator 'eq' is not allowed on 'categories'; allowed: in, contains"),
    ({"categories": {"ne": "food"}}, "Operator 'ne' is not allowed on 'categories'"),
    ({"metadata": {"n": {"gt": 1}}}, "Operator 'gt' is not allowed on 'n'; allowed: eq, ne, contains"),
    ({"metadata": {"n": {"in": [1]}}}, "Operator 'in' is not allowed on 'n'"),
    ({"metadata": {"n": {"x": 1}}}, "Unknown operator 'x' on 'n'"),
    ({"keywords": {"eq": "x"}}, "Operator 'eq' is not allowed on 'keywords'"),
    ({"user_id": 5}, "filters.user_id must be a string, not a number"),
    ({"user_id": None}, "filters.user_id must be a string, not null"),
    ({"user_id": True}, "filters.user_id must be a string, not a boolean"),
    ({"user_id": ["u"]}, "filters.user_id must be a string, not a list"),
    ({"user_id": ""}, "filters.user_id must not be empty"),
    ({"user_id": "u\x00"}, "NUL"),
    ({"user_id": "\ud83d"}, "lone surrogates"),
    ({"user_id": "x" * 1001}, "longer than 1000 characters"),
    ({"user_id": {}}, "filters.user_id needs an operator: eq, ne, in, exists"),
    ({"user_id": {"in": "u"}}, "filters.user_id.in must be a list, not a string"),
    ({"user_id": {"in": ["u", 1]}}, "filters.user_id.in[1] must be a string"),
    ({"user_id": {"in": ["*"]}}, "the wildcard '*' stands alone"),
    ({"user_id": {"ne": "*"}}, "the wildcard '*' stands alone"),
    ({"user_id": {"exists": False}}, "filters.user_id.exists can only be true"),
    ({"user_id": {"exists": 1}}, "filters.user_id.exists can only be true"),
    ({"user_id": {"in": [str(n) for n in range(1001)]}}, "more than 1000 values"),
    ({"memory_ids": ["abc"]}, "filters.memory_ids[0] must be a UUID"),
    ({"memory_ids": ID}, "filters.memory_ids must be a list"),
    ({"created_at": {"gte": 1750000000}}, "filters.created_at.gte must be a string, not a number"),
    ({"created_at": {"gte": "20250618"}}, "must be a date 'YYYY-MM-DD' or an ISO 8601 date-time"),
    ({"created_at": {"gte": "2025-02-30"}}, "is not a date that exists"),
    ({"created_at": {"gte": "0001-01-01T00:00:00+08:00"}}, "is not a date that exists"),
    ({"created_at": {"gte": "2025-06-18T25:00:00Z"}}, "is not a date that exists"),
    ({"created_at": {"gte": "yesterday"}}, "must be a date"),
    ({"created_at": {"gte": "２０２５-06-18"}}, "must be a date"),
    ({"metadata": {}}, "filters.metadata must name at least one key"),
    ({"metadata": "x"}, "filters.metadata must be an object, not a string"),
    ({"metadata": {"": 1}}, "must not be empty"),
    ({"metadata": {"n": float("nan")}}, "is not a JSON value"),
    ({"metadata": {"n": ["\x00"]}}, "NUL"),
    ({"keywords": {"contains": ""}}, "filters.keywords.contains must not be empty"),
    ({"AND": []}, "filters.AND needs at least one condition"),
    ({"AND": {"user_id": "u"}}, "filters.AND must be a list of objects, not an object"),
    ({"AND": ["u"]}, "filters.AND[0] must be an object, not a string"),
    ({"AND": [{}]}, "filters.AND[0] must not be empty"),
    ({"NOT": "u"}, "filters.NOT must be an object or a list of objects"),
    ({"NOT": {}}, "filters.NOT must not be empty"),
    ([{"user_id": "u"}], "filters must be an object, not a list"),
    ("user_id", "filters must be an object, not a string"),
    ({5: "u"}, "Top-level key must be"),
    ({"user_id": {5: "u"}}, "Unknown operator '5'"),
]


@pytest.mark.parametrize(("raw", "words"), REFUSED, ids=[str(words)[:60] for _, words in REFUSED])
def test_what_is_not_in_the_grammar_is_refused_by_name(raw: Any, words: str) -> None:
    with pytest.raises(MemlaneError) as caught:
        parse(raw)
    body = caught.value.as_dict()
    assert caught.value.code == "filters_invalid"
    assert caught.value.status == 400
    assert words in body["filters"][0]
    assert body["detail"] == body["filters"][0]
    assert body["pointer"].startswith("filters")
    str(body).encode()  # whatever the caller wrote, the answer can be sent


@pytest.mark.parametrize("raw", [None, {}, [], ""])
def test_no_filter_at_all_is_its_own_error(raw: Any) -> None:
    with pytest.raises(MemlaneError) as caught:
        parse(raw)
    assert caught.value.code == "filters_missing"
    assert caught.value.as_dict()["error"].startswith("Filters are required and cannot be empty")


def nested(levels: int) -> dict[str, Any]:
    raw: dict[str, Any] = {"user_id": "u"}
    for _ in range(levels):
        raw = {"AND": [raw]}
    return raw


def test_depth_and_size_are_bounded() -> None:
    assert parse(nested(MAX_DEPTH)) == USER
    with pytest.raises(MemlaneError, match="nested deeper than 16 levels"):
        parse(nested(MAX_DEPTH + 1))
    with pytest.raises(MemlaneError, match="nested deeper than 16 levels"):
        parse(nested(900))
    fitting = {"OR": [{"user_id": str(n)} for n in range(MAX_NODES - 1)]}
    assert isinstance(parse(fitting), Or)
    with pytest.raises(MemlaneError, match="more than 200 conditions"):
        parse({"OR": [*fitting["OR"], {"user_id": "one more"}]})


def test_metadata_numbers_and_booleans_never_meet_in_a_mapping() -> None:
    one, true = parse({"metadata": {"n": {"contains": 1}}}), parse({"metadata": {"n": {"contains": True}}})
    assert one != true
    assert len({one: 1, true: 2}) == 2
