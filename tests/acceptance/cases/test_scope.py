"""C23–C33: scopes, filters, listing, deletions, ids, bad requests, expiration."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest

from tests.acceptance.cases.field import Field, field_of
from tests.conftest import TestProject

IDS = ["a-b", "x/y", "a@b.c", "50%&=", "用户一", "O'Brien", "u" * 256, "a b", "q?x#y", "é"]


def test_c23_contradicting_users_match_nothing_and_a_star_stays_in_the_project(
    field: Field, new_project: Any
) -> None:
    field.stored("locker code 4417", "alice", infer=False)
    field.stored("locker code 9002", "bob", infer=False)
    body = {"query": "locker code", "filters": {"user_id": "alice", "AND": [{"user_id": "bob"}]}}
    answer = field.http.post("/v3/memories/search/", json=body)
    assert answer.status_code == 400 or answer.json()["results"] == []
    with field_of(new_project()) as stranger:
        stranger.stored("locker code 1111", "alice", infer=False)
        assert sorted(field.listed({"user_id": "*"})) == ["locker code 4417", "locker code 9002"]
        assert stranger.texts("locker code", {"user_id": "*"}, threshold=0) == ["locker code 1111"]


def test_c23_the_same_fact_in_another_project_is_no_duplicate(field: Field, new_project: Any) -> None:
    field.stored("I collect stamps from Peru")
    with field_of(new_project()) as stranger:
        assert len(stranger.stored("I collect stamps from Peru")) == 1


def test_c24_verbatim_rows_carry_all_ids_and_inferred_ones_their_side(field: Field) -> None:
    ids = {"agent_id": "bot", "run_id": "r"}
    field.stored("Verbatim: the code is 77", "u", infer=False, **ids)
    turns = [
        {"role": "user", "content": "I play the cello in an orchestra"},
        {"role": "assistant", "content": "I recommend the Elgar concerto by Jacqueline du Pré"},
    ]
    field.stored(turns, "u", **ids)
    both = {"AND": [{"user_id": "u"}, {"agent_id": "bot"}, {"run_id": "r"}]}
    assert field.listed(both) == ["Verbatim: the code is 77"]
    user_only = {"AND": [{"user_id": "u"}, {"run_id": "r"}]}
    assert any("cello" in text for text in field.listed(user_only))
    assert not any("77" in text for text in field.listed(user_only))
    assert field.listed({"user_id": "u"}) == []
    everything = field.listed({"OR": [{"user_id": "u"}, {"agent_id": "bot"}]})
    assert len(everything) >= 2
    for hit in field.search("cello", {"OR": [{"user_id": "u"}]}, threshold=0):
        assert hit["user_id"] == "u"
        assert hit["run_id"] == hit["session_id"] == "r"


def test_c26_ranges_hold_for_every_way_to_write_a_time(field: Field) -> None:
    for day in ("15", "20", "26"):
        at = int(datetime(2025, 6, int(day), 12, tzinfo=UTC).timestamp())
        field.stored(f"On day {day} I swam", infer=False, timestamp=at)
    for low, high in [
        ("2025-06-18", "2025-06-25"),
        ("2025-06-18T00:00:00Z", "2025-06-25T00:00:00Z"),
        ("2025-06-18T00:00:00+08:00", "2025-06-25T00:00:00+08:00"),
        ("2025-06-20", "2025-06-20"),
    ]:
        where = {"AND": [{"user_id": "u"}, {"created_at": {"gte": low, "lte": high}}]}
        assert field.listed(where) == ["On day 20 I swam"], (low, high)
        assert field.texts("swam", where, threshold=0) == ["On day 20 I swam"]


def test_c27_pages_are_whole_newest_first_and_stable_while_adding(field: Field) -> None:
    events = [field.accept(f"Entry {n:02}", infer=False) for n in range(57)]
    for event_id in events:
        field.ended(event_id)
    first = field.page(query="?page=1&page_size=20")
    assert first["count"] == 57
    field.stored("A late one", infer=False)
    pages, address = [first], first["next"]
    while address:
        answer = field.http.post(address, json={"filters": {"user_id": "u"}})
        pages.append(answer.json())
        address = pages[-1]["next"]
    rows = [row["memory"] for page in pages for row in page["results"]]
    assert [len(page["results"]) for page in pages] == [20, 20, 17]
    assert rows == [f"Entry {n:02}" for n in range(56, -1, -1)]
    missing = field.http.post("/v3/memories/?page=99&page_size=20", json={"filters": {"user_id": "u"}})
    assert (missing.status_code, missing.json()["detail"]) == (404, "Invalid page.")


def test_c28_metadata_survives_an_update_of_the_text(field: Field) -> None:
    metadata = {"sku": "S-9", "nested": {"a": [1]}}
    (memory,) = field.stored("The blue lamp", infer=False, metadata=metadata)
    assert field.http.put(f"/v1/memories/{memory}/", json={"text": "The red lamp"}).status_code == 200
    assert field.http.get(f"/v1/memories/{memory}/").json()["metadata"] == metadata
    assert field.page()["results"][0]["metadata"] == metadata
    assert field.search("red lamp")[0]["metadata"] == metadata


def test_c29_one_user_is_deleted_with_every_row_and_the_other_is_untouched(field: Field) -> None:
    rows = field.stored("Plain row of one", "one", infer=False)
    rows += field.stored("Run row of one", "one", infer=False, run_id="r")
    rows += field.stored("Agent row of one", "one", infer=False, agent_id="a")
    (kept,) = field.stored("Row of two", "two", infer=False)
    answer = field.http.delete("/v1/memories/", params={"user_id": "one"})
    assert answer.status_code == 200
    for memory in rows:
        assert field.http.get(f"/v1/memories/{memory}/").status_code == 404
    field.ended(answer.json()["event_id"])
    assert field.listed({"OR": [{"user_id": "one"}]}) == []
    assert field.listed({"user_id": "two"}) == ["Row of two"]
    assert len(field.http.get(f"/v1/memories/{kept}/history/").json()) == 1


def test_c29_250_rows_are_gone_at_once_by_list_search_get_and_entities(field: Field) -> None:
    turns = [{"role": "user", "content": f"Row number {n}"} for n in range(125)]
    rows = field.stored(turns, infer=False)
    rows += field.stored([{**turn, "content": turn["content"] + "b"} for turn in turns], infer=False)
    assert len(rows) == 250
    assert field.http.delete("/v1/memories/", params={"user_id": "u"}).status_code == 200
    assert field.page()["count"] == 0
    assert field.texts("Row number 7", threshold=0) == []
    assert field.http.get(f"/v1/memories/{rows[17]}/").status_code == 404
    assert field.http.get("/v1/entities/").json()["results"] == []


@pytest.mark.parametrize("name", IDS)
def test_c30_an_id_works_in_bodies_filters_and_paths(field: Field, name: str) -> None:
    field.stored("I keep bees in Lund", name, infer=False)
    assert field.listed({"user_id": name}) == ["I keep bees in Lund"]
    assert field.texts("bees", {"user_id": name})
    names = [entity["name"] for entity in field.http.get("/v1/entities/").json()["results"]]
    assert names == [name]
    answer = field.http.delete(f"/v2/entities/user/{quote(name, safe='')}/")
    assert answer.status_code == 200
    assert field.listed({"user_id": name}) == []


@pytest.mark.parametrize("name", ["*", "a\nb", "u" * 257, ".", "\x00"])
def test_c30_an_id_that_cannot_be_named_again_is_refused_at_the_add(field: Field, name: str) -> None:
    assert field.send("I keep bees", name).status_code == 400


def test_c31_ids_that_are_none_unknown_or_of_another_project(field: Field, new_project: Any) -> None:
    with field_of(new_project()) as stranger:
        (foreign,) = stranger.stored("Secret of another", infer=False)
    for method, body in (("GET", None), ("PUT", {"text": "x"}), ("DELETE", None)):
        for written, status in (("abc", 400), (str(uuid4()), 404), (foreign, 404)):
            answer = field.http.request(method, f"/v1/memories/{written}/", json=body)
            assert answer.status_code == status, (method, written, answer.text)
    (mine,) = field.stored("Mine", infer=False)
    assert field.http.delete(f"/v1/memories/{mine}/").status_code == 200
    assert field.http.delete(f"/v1/memories/{mine}/").status_code == 404


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"messages": [{"role": "user", "content": "x"}]}, "user_id"),
        ({"messages": [{"role": "user", "content": "x"}], "user_id": ""}, "user_id"),
        ({"messages": [{"role": "user", "content": "x"}], "user_id": " "}, "user_id"),
        ({"messages": [{"role": "user", "content": "x"}], "user_id": 5}, "user_id"),
        ({"messages": [{"role": "user", "content": "x"}], "user_id": None}, "user_id"),
        ({"messages": [], "user_id": "u"}, "messages"),
        ({"messages": [{"role": "user", "content": ""}], "user_id": "u"}, "content"),
        ({"user_id": "u"}, "messages"),
    ],
)
def test_c32_a_bad_add_names_its_field_and_leaves_no_event(field: Field, body: dict[str, Any], named: str) -> None:
    answer = field.http.post("/v3/memories/add/", json=body)
    assert answer.status_code == 400
    assert named in answer.text
    assert field.http.get("/v1/events/").json()["count"] == 0
    assert field.http.get("/v1/entities/").json()["count"] == 0


def test_c33_an_expired_memory_is_hidden_and_its_text_can_come_again(field: Field) -> None:
    day = datetime.now(UTC).date()
    days = {name: (day + timedelta(days=n)).isoformat() for name, n in (("past", -1), ("now", 0), ("next", 1))}
    (past,) = field.stored("Coupon of yesterday", infer=False, expiration_date=days["past"])
    field.stored("Coupon of today", infer=False, expiration_date=days["now"])
    field.stored("Coupon of tomorrow", infer=False, expiration_date=days["next"])
    assert sorted(field.listed()) == ["Coupon of today", "Coupon of tomorrow"]
    assert "Coupon of yesterday" not in field.texts("coupon", threshold=0)
    assert field.http.get(f"/v1/memories/{past}/").status_code == 200
    assert "Coupon of yesterday" in field.listed(show_expired=True)
    assert len(field.stored("Coupon of yesterday", infer=False)) == 1
    assert "Coupon of yesterday" in field.listed()


def test_c33_null_clears_an_expiration(field: Field) -> None:
    (memory,) = field.stored("Coupon 9", infer=False, expiration_date="2020-01-01")
    assert field.listed() == []
    assert field.http.put(f"/v1/memories/{memory}/", json={"expiration_date": None}).status_code == 200
    assert field.listed() == ["Coupon 9"]


@pytest.mark.parametrize("date", ["20250101", "garbage", "2025-13-01", "2025-02-30", 7])
def test_c33_a_date_that_is_none_is_refused(field: Field, date: Any) -> None:
    assert field.send("Coupon", expiration_date=date).status_code == 400


def test_a_key_of_another_project_finds_no_event(field: Field, new_project: Any) -> None:
    event_id = field.accept("I like tea", infer=False)
    other: TestProject = new_project()
    with field_of(other) as stranger:
        assert stranger.http.get(f"/v1/event/{event_id}/").status_code == 404
