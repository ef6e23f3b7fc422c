"""Checklist 23 to 33: search, on one project that nobody changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from mem0.client.types import SearchMemoryOptions
from mem0.exceptions import ValidationError

from tests.acceptance.account import KINDS, Account, account, ids, texts
from tests.acceptance.conftest import ModelStack
from tests.conftest import TestProject

HIKING = "Nora loves hiking in the Alps"
KEYS = {
    *("id", "memory", "user_id", "agent_id", "app_id", "run_id", "session_id", "metadata", "categories"),
    *("created_at", "updated_at", "expiration_date", "structured_attributes", "replaced_by", "synthesized"),
    *("lifecycle_state", "score", "score_breakdown"),
}
USER = {"user_id": "u"}


@pytest.fixture(scope="module")
def filled(module_project: TestProject) -> TestProject:
    with account(module_project) as made:
        made.verbatim(HIKING, "Nora eats no shellfish", "Ticket 40017 belongs to Ana", user_id="u")
        made.verbatim(
            "Nora plans a hiking trip to Chamonix", user_id="u", run_id="r", metadata={"tripKind": {"a": 1}}
        )
    return module_project


@pytest.fixture(params=KINDS)
def reader(request: pytest.FixtureRequest, filled: TestProject) -> Iterator[Account]:
    with account(filled, request.param) as made:
        yield made


@pytest.fixture
def raw(filled: TestProject) -> Iterator[Account]:
    with account(filled) as made:
        yield made


@pytest.mark.item(23)
def test_23_hits_are_whole_memories_with_falling_scores(reader: Account) -> None:
    answer = reader.client.search("who loves hiking", options=SearchMemoryOptions(filters=USER))
    rows = answer["results"]
    assert rows[0]["memory"] == HIKING
    scores = [row["score"] for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    assert all(set(row) >= KEYS for row in rows)
    assert all((row["user_id"], row["run_id"]) == ("u", None) for row in rows)


@pytest.mark.item(24)
def test_24_an_or_of_one_id_gives_the_rows_with_their_metadata_as_it_was(raw: Account) -> None:
    body = {"query": "hiking", "filters": {"OR": [{"user_id": "u"}]}, "output_format": "v1.1"}
    rows = raw.http.post("/v3/memories/search/", json=body).json()["results"]
    assert {HIKING, "Nora plans a hiking trip to Chamonix"} <= set(texts(rows))
    assert [row["metadata"] for row in rows if row["run_id"]] == [{"tripKind": {"a": 1}}]


@pytest.mark.item(25)
def test_25_an_unknown_user_finds_nothing(reader: Account) -> None:
    assert reader.client.search("hiking", filters={"user_id": "nobody"})["results"] == []


@pytest.mark.item(26)
def test_26_top_k_cuts_and_has_bounds(reader: Account) -> None:
    assert len(reader.found("Nora", filters=USER, top_k=1)) == 1
    for wrong in (0, 1001):
        with pytest.raises(ValidationError):
            reader.client.search("Nora", filters=USER, top_k=wrong)


@pytest.mark.item(27)
def test_27_a_lower_threshold_never_finds_less(reader: Account) -> None:
    found = [len(reader.found("Nora", filters=USER, threshold=value)) for value in (0.0, 0.1, 0.5, 0.9)]
    assert found == sorted(found, reverse=True)
    assert found[0] == 3
    best = reader.found("Nora loves hiking", filters=USER, threshold=0.5)
    assert all(row["score"] >= 0.5 for row in best)


@pytest.mark.item(28)
def test_28_rerank_keeps_the_rows_and_their_keys(reader: Account) -> None:
    without = reader.found("hiking", filters=USER)
    reranked = reader.found("hiking", filters=USER, rerank=True)
    assert ids(reranked) == ids(without)
    assert [set(row) for row in reranked] == [set(row) for row in without]


@pytest.mark.item(29)
@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"filters": USER, "user_id": "u"}, "user_id"),
        ({"filters": USER, "run_id": "r"}, "run_id"),
        ({}, "Filters are required and cannot be empty"),
        ({"filters": {}}, "Filters are required and cannot be empty"),
        ({"filters": USER, "query": " "}, "query"),
        ({"filters": USER, "query": ""}, "query"),
    ],
)
def test_29_what_search_refuses_it_names(raw: Account, body: dict[str, Any], word: str) -> None:
    answer = raw.http.post("/v3/memories/search/", json={"query": "hiking", **body})
    assert answer.status_code == 400
    assert word in answer.json()["error"]


@pytest.mark.item(30)
def test_30_fields_restrict_the_keys(reader: Account) -> None:
    rows = reader.found("hiking", filters=USER, fields=["id", "memory"])
    assert rows
    assert all(set(row) == {"id", "memory"} for row in rows)


@pytest.mark.item(31)
@pytest.mark.parametrize("kind", KINDS)
def test_31_categories_and_metadata_narrow_the_results(model_stack: ModelStack, kind: str) -> None:
    with account(model_stack.new_project(), kind) as owner:
        owner.remember("My favourite food is sushi", user_id="u", metadata={"kind": "taste"})
        owner.remember("My favourite music is jazz", user_id="u", metadata={"kind": "taste"})
        owner.remember("My health insurance ends in May", user_id="u", metadata={"kind": "fact"})
        rows = {row["memory"]: row["categories"] for row in owner.found("favourite", filters=USER)}
        assert sorted(rows.values()) == [["food"], ["health"], ["music"]]

        def narrowed(**body: Any) -> list[str]:
            return sorted(texts(owner.found("favourite", filters=USER, **body)))

        assert narrowed(categories=["music"]) == ["My favourite music is jazz"]
        assert narrowed(categories=["food", "travel"]) == ["My favourite food is sushi"]
        assert narrowed(metadata={"kind": "fact"}) == ["My health insurance ends in May"]
        assert narrowed(categories=["food"], metadata={"kind": "fact"}) == []


@pytest.mark.item(32)
@pytest.mark.parametrize("reference", [1672531200, 1672531200.5, "2023-01-01", "2023-01-01T10:00:00Z"])
def test_32_a_reference_date_comes_in_any_of_its_forms(reader: Account, reference: Any) -> None:
    assert HIKING in texts(reader.found("hiking last week", filters=USER, reference_date=reference))


@pytest.mark.item(33)
@pytest.mark.parametrize("switch", ["keyword_search", "latest_only", "include_merged", "show_expired"])
def test_33_the_switches_are_accepted(reader: Account, switch: str) -> None:
    assert HIKING in texts(reader.found("hiking", filters=USER, **{switch: True}))
