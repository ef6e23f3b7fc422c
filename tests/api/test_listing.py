"""Lists over HTTP: envelopes, pages, the shapes of three versions, and what narrows them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.world import Caller, World

V3 = "/v3/memories/"


def listed(caller: Caller, filters: Any, target: str = V3, **body: Any) -> Any:
    return caller.expect(200, "POST", target, {"filters": filters, **body})


def texts(found: Any) -> list[str]:
    rows = found["results"] if isinstance(found, dict) else found
    return [row["memory"] for row in rows]


def test_57_rows_come_in_stable_pages_newest_first(caller: Caller) -> None:
    caller.add_all([f"fact {n}" for n in range(57)])
    seen: list[str] = []
    target: str | None = V3 + "?page_size=20"
    sizes = []
    while target:
        page = listed(caller, {"user_id": "u"}, target.removeprefix(caller.world.server.url))
        assert page["count"] == 57
        sizes.append(len(page["results"]))
        seen += texts(page)
        if len(sizes) == 1:
            caller.add("a later fact")
        target = page["next"]
    assert sizes == [20, 20, 17]
    assert seen == [f"fact {n}" for n in reversed(range(57))]
    beyond = caller.send("POST", V3 + "?page=99&page_size=20", {"filters": {"user_id": "u"}})
    assert (beyond.status, beyond.body["detail"]) == (404, "Invalid page.")


def test_page_and_size_work_alone_in_the_query_and_in_the_body(caller: Caller) -> None:
    caller.add_all(["one", "two", "three"])
    user = {"user_id": "u"}
    assert texts(listed(caller, user, V3 + "?page=1")) == ["three", "two", "one"]
    assert texts(listed(caller, user, V3 + "?page_size=2")) == ["three", "two"]
    assert texts(listed(caller, user, page=2, page_size=2)) == ["one"]
    assert texts(listed(caller, user, V3 + "?page=1", page=2, page_size=2)) == ["three", "two"]
    assert len(listed(caller, user, V3 + "?page=0&page_size=0")["results"]) == 3
    assert len(listed(caller, user, V3 + "?page_size=201")["results"]) == 3
    assert listed(caller, user, V3 + "?page=2&page_size=2")["previous"].startswith(caller.world.server.url)


@pytest.mark.parametrize(
    "query", ["page=-1", "page=x", "page_size=-1", "page_size=1.5", "page=1e9", f"page={10**30}"]
)
def test_nonsense_pages_are_4xx(caller: Caller, query: str) -> None:
    assert caller.send("POST", f"{V3}?{query}", {"filters": {"user_id": "u"}}).status in (400, 404)


def test_an_unknown_user_has_an_empty_first_page(caller: Caller) -> None:
    found = listed(caller, {"user_id": "nobody"})
    assert found == {"count": 0, "next": None, "previous": None, "results": []}


@pytest.mark.parametrize("body", [{}, {"filters": None}, {"filters": {}}])
@pytest.mark.parametrize("path", [V3, "/v2/memories/"])
def test_missing_filters_have_the_documented_text(caller: Caller, path: str, body: dict[str, Any]) -> None:
    reply = caller.send("POST", path, body)
    assert reply.status == 400
    assert reply.body["error"].startswith("Filters are required and cannot be empty.")


def test_bad_filters_are_400_with_their_documented_key(caller: Caller) -> None:
    unknown = caller.send("POST", V3, {"filters": {"user_id": "u", "bogus_key": "z"}})
    assert unknown.status == 400
    assert "Top-level key must be a logical operator or an allowed field" in unknown.body["filters"][0]
    unscoped = caller.send("POST", V3, {"filters": {"NOT": {"user_id": "u"}}})
    assert (unscoped.status, unscoped.body["message"]) == (
        400,
        "One of the filters: app_id, user_id, agent_id, run_id is required!",
    )


def test_the_scope_rule_is_a_switch_of_the_project(caller: Caller) -> None:
    caller.add("plain")
    caller.add("in a run", run_id="r")
    user = {"user_id": "u"}
    assert texts(listed(caller, user)) == ["plain"]
    assert texts(listed(caller, {"user_id": "u", "run_id": "*"})) == ["in a run"]
    ping = caller.get("/v1/ping/")
    project = f"/api/v1/orgs/organizations/{ping['org_id']}/projects/{ping['project_id']}/"
    caller.expect(200, "PATCH", project, {"strict_scoping": False})
    assert texts(listed(caller, user)) == ["in a run", "plain"]
    caller.expect(200, "PATCH", project, {"strict_scoping": None})
    assert texts(listed(caller, user)) == ["plain"]


def test_what_stands_beside_the_filters_narrows(caller: Caller) -> None:
    caller.add("old tea", timestamp=1672531200, metadata={"a": 1})
    caller.add("new coffee", metadata={"a": 2})
    caller.add("gone tea", expiration_date="2000-01-01")
    user = {"user_id": "u"}
    assert texts(listed(caller, user)) == ["new coffee", "old tea"]
    assert texts(listed(caller, user, show_expired=True)) == ["gone tea", "new coffee", "old tea"]
    assert texts(listed(caller, user, end_date="2023-01-01")) == ["old tea"]
    assert texts(listed(caller, user, start_date="2023-01-02")) == ["new coffee"]
    assert texts(listed(caller, user, keywords="TEA")) == ["old tea"]
    assert texts(listed(caller, user, metadata={"a": 2})) == ["new coffee"]
    assert texts(listed(caller, user, categories=["none"])) == []
    assert caller.send("POST", V3, {"filters": user, "start_date": "soon"}).status == 400


def test_fields_keep_their_keys_and_the_id(caller: Caller) -> None:
    memory_id = caller.add("one")
    [row] = listed(caller, {"user_id": "u"}, fields=["memory", "userId"])["results"]
    assert row == {"id": memory_id, "memory": "one", "user_id": "u"}


def test_v2_is_a_bare_array_unless_paged_twice(caller: Caller) -> None:
    caller.add_all(["one", "two"])
    user = {"user_id": "u"}
    assert texts(listed(caller, user, "/v2/memories/")) == ["two", "one"]
    assert isinstance(listed(caller, user, "/v2/memories/?page=1"), list)
    assert listed(caller, user, "/v2/memories/?page=1&page_size=1")["count"] == 2
    assert listed(caller, user, "/v2/memories/", page=2, page_size=1)["next"] is None


def test_v1_lists_by_query(caller: Caller) -> None:
    caller.add_all(["one", "two"], metadata={"a": 1})
    assert texts(caller.get("/v1/memories/?user_id=u")) == ["two", "one"]
    assert texts(caller.get("/v1/memories/?user_id=u&limit=1")) == ["two"]
    assert caller.get("/v1/memories/?user_id=u&page=1&page_size=1&limit=500")["count"] == 2
    assert texts(caller.get("/v1/memories/?user_id=u&metadata=%7B%22a%22:2%7D")) == []
    assert caller.get("/v1/memories/?user_id=u&fields=memory&limit=1")[0].keys() == {"id", "memory"}
    unscoped = caller.send("GET", "/v1/memories/")
    assert (unscoped.status, unscoped.body) == (
        400,
        ["One of the filters: app_id, user_id, agent_id, run_id is required!"],
    )
    large = caller.send("GET", "/v1/memories/?user_id=u&limit=201")
    assert (large.status, large.body["error"]) == (400, "limit must be <= 200")


def test_an_entitys_rows_are_listed_whatever_else_they_carry(api: World, caller: Caller) -> None:
    caller.add("one", run_id="history")
    caller.add("two")
    assert texts(caller.get("/v1/memories/user/u/")) == ["two", "one"]
    assert texts(caller.get("/v1/memories/run/history/")) == ["one"]
    assert api.project().get("/v1/memories/user/u/")["count"] == 0
    wrong = caller.send("GET", "/v1/memories/person/u/")
    assert (wrong.status, wrong.body["error"]) == (400, "Invalid entity type")
