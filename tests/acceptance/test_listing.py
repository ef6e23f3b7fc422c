"""Checklist 34 to 38: list and its pages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from mem0.client.types import GetAllMemoryOptions
from mem0.exceptions import ValidationError

from tests.acceptance.account import KINDS, Account, account, ids, texts
from tests.acceptance.conftest import ModelStack
from tests.conftest import TestProject

USER = {"user_id": "u"}
FACTS = [f"Fact number {number}" for number in range(5)]


@pytest.fixture(scope="module")
def filled(module_project: TestProject) -> TestProject:
    with account(module_project) as made:
        made.verbatim(*FACTS, user_id="u")
    return module_project


@pytest.fixture(params=KINDS)
def reader(request: pytest.FixtureRequest, filled: TestProject) -> Iterator[Account]:
    with account(filled, request.param) as made:
        yield made


@pytest.mark.item(34)
def test_34_pages_follow_next_to_the_last(reader: Account) -> None:
    page = reader.client.get_all(filters=USER, page=1, page_size=2)
    assert set(page) == {"count", "next", "previous", "results"}
    assert page["previous"] is None
    pages = [page]
    while page["next"]:
        assert page["next"].startswith(reader.project.url + "/v3/memories/?")
        page = reader.http.post(page["next"], json={"filters": USER}).raise_for_status().json()
        pages.append(page)
    assert [len(page["results"]) for page in pages] == [2, 2, 1]
    assert {page["count"] for page in pages} == {5}
    assert pages[1]["previous"] is not None
    assert [row["memory"] for page in pages for row in page["results"]] == FACTS[::-1]


@pytest.mark.item(35)
def test_35_page_and_page_size_stand_alone_too(reader: Account) -> None:
    options = GetAllMemoryOptions(filters=USER, page_size=3)
    assert len(reader.client.get_all(options)["results"]) == 3
    assert len(reader.client.get_all(filters=USER, page=1)["results"]) == 5
    assert len(reader.client.get_all(filters=USER, page=0, page_size=0)["results"]) == 5
    clamped = reader.client.get_all(filters=USER, page_size=201)
    assert (len(clamped["results"]), clamped["next"]) == (5, None)
    with pytest.raises(Exception, match=r"Invalid page\.") as missing:
        reader.client.get_all(filters=USER, page=2)
    assert type(missing.value).__name__ == "MemoryNotFoundError"


@pytest.mark.item(36)
def test_36_an_unknown_user_has_an_empty_list(reader: Account) -> None:
    empty = {"count": 0, "next": None, "previous": None, "results": []}
    assert reader.client.get_all(filters={"user_id": "nobody"}) == empty


@pytest.mark.item(37)
def test_37_a_list_without_filters_is_refused(reader: Account) -> None:
    with pytest.raises(ValidationError, match="Filters are required"):
        reader.client.get_all()


@pytest.mark.item(38)
def test_38_dates_and_expiry_narrow_a_list(owner: Account) -> None:
    [old] = owner.verbatim("Old news", user_id="u", timestamp=1672574400)  # 2023-01-01 12:00 UTC
    [new] = owner.verbatim("New news", user_id="u")
    [gone] = owner.verbatim("Gone news", user_id="u", expiration_date="2020-01-01")

    def listed(**body: Any) -> set[str]:
        return ids(owner.listed(filters=USER, **body))

    assert listed() == {old, new}
    assert listed(show_expired=True) == {old, new, gone}
    assert listed(start_date="2023-01-01", end_date="2023-01-01") == {old}
    assert listed(start_date="2023-01-01T12:00:00Z", end_date="2023-01-01T12:00:00Z") == {old}
    assert listed(end_date="2022-12-31") == set()
    yesterday = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
    assert listed(start_date=yesterday) == {new}


@pytest.mark.item(38)
@pytest.mark.parametrize("kind", KINDS)
def test_38_categories_narrow_a_list(model_stack: ModelStack, kind: str) -> None:
    with account(model_stack.new_project(), kind) as owner:
        owner.remember("My favourite food is sushi", user_id="u")
        owner.remember("My favourite music is jazz", user_id="u")
        assert texts(owner.listed(filters=USER, categories=["food"])) == ["My favourite food is sushi"]
        assert len(owner.listed(filters=USER, categories=["food", "music"])) == 2
        assert owner.listed(filters=USER, categories=["travel"]) == []
