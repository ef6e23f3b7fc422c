"""Deletions by selection and of entities: at once for every reader, never wider than asked, purged by the job."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tests.api.world import Caller, World

IDS = ["a-b", "x/y", "a@b.c", "50%&=", "用户一", "O'Brien", "é ? #", "x" * 256]


def delete_all(caller: Caller, query: str) -> Any:
    return caller.send("DELETE", f"/v1/memories/?{query}")


def alive(caller: Caller, *ids: str) -> list[bool]:
    return [caller.send("GET", f"/v1/memories/{id_}/").status == 200 for id_ in ids]


def names(caller: Caller) -> set[tuple[str, str]]:
    return {(entity["type"], entity["name"]) for entity in caller.get("/v1/entities/")["results"]}


def test_every_row_of_a_user_goes_at_once_and_nobody_elses(caller: Caller) -> None:
    mine = [
        caller.add("one"),
        caller.add("two", run_id="r"),
        caller.add("three", agent_id="a"),
        caller.add("four", agent_id="a", run_id="r", app_id="p"),
    ]
    other, agents = caller.add("one", user_id="v"), caller.add("five", user_id=None, agent_id="a")
    answer = delete_all(caller, "user_id=u")
    assert answer.status == 200
    assert answer.body["message"] == "Delete in progress. This may take some time."
    assert alive(caller, *mine, other, agents) == [False] * 4 + [True] * 2
    assert names(caller) == {("user", "v"), ("agent", "a")}
    caller.world.settle()
    event = caller.get(f"/v1/event/{answer.body['event_id']}/")
    assert (event["event_type"], event["status"], event["usage"]["deleted"]) == ("DELETE_ALL", "SUCCEEDED", 4)
    assert set(caller.points()) == {other, agents}
    assert [caller.send("GET", f"/v1/memories/{id_}/history/").status for id_ in (*mine, other)] == [404] * 4 + [200]


def test_nothing_of_a_purged_memory_is_left_in_the_tables(api: World, caller: Caller) -> None:
    caller.add("Nora loves Porto")
    kept = caller.add("Nora loves Lyon", user_id="v")
    delete_all(caller, "user_id=u")
    caller.world.settle()
    with api.parts.database.transaction(caller.project_id) as tx:
        for table, column in (
            ("memories", "id"),
            ("history", "memory_id"),
            ("entity_links", "memory_id"),
        ):
            rows = tx.connection.exec_driver_sql(f"SELECT DISTINCT {column}::text FROM {table}").scalars()
            assert set(rows) == {kept}, table
        scopes = tx.connection.exec_driver_sql("SELECT DISTINCT scope_key FROM entities").scalars().all()
        assert len(scopes) == 1
        assert tx.connection.exec_driver_sql("SELECT count(*) FROM projections").scalar_one() == 0


def test_250_rows_are_gone_before_any_job_has_run(caller: Caller) -> None:
    ids = [id_ for part in range(5) for id_ in caller.add_all([f"fact {part * 50 + n}" for n in range(50)])]
    delete_all(caller, "user_id=u")
    assert names(caller) == set()
    assert alive(caller, ids[0], ids[100], ids[249]) == [False] * 3
    caller.world.settle()
    assert caller.points() == {}


def test_ids_are_anded_and_a_wildcard_means_any(caller: Caller) -> None:
    plain, run, other = caller.add("one"), caller.add("one", run_id="r"), caller.add("one", user_id="v", run_id="r")
    delete_all(caller, "user_id=u&run_id=r")
    assert alive(caller, plain, run, other) == [True, False, True]
    delete_all(caller, "run_id=*")
    assert alive(caller, plain, other) == [True, False]
    delete_all(caller, "user_id=*")
    assert alive(caller, plain) == [False]


def test_only_all_four_wildcards_empty_the_project(api: World, caller: Caller) -> None:
    user, agent = caller.add("one"), caller.add("one", user_id=None, agent_id="a")
    neighbour = api.project()
    foreign = neighbour.add("one")
    delete_all(caller, "user_id=*&agent_id=*&app_id=*")
    assert alive(caller, user, agent) == [True, True]
    delete_all(caller, "user_id=*&agent_id=*&app_id=*&run_id=*")
    assert alive(caller, user, agent) == [False, False]
    caller.world.settle()
    assert caller.points() == {}
    assert alive(neighbour, foreign) == [True]
    assert set(neighbour.points()) == {foreign}


@pytest.mark.parametrize(
    "query",
    [
        "",
        "user_id=",
        "user_id=%20",
        "org_id=x&project_id=y",
        "metadata={%22a%22:1}",
        "filters={}",
        "filters=user_id",
        "filters=[1]",
        "filters={'bogus':'z'}",
        "filters={'NOT':{'user_id':'u'}}",
        "user_id=u&metadata=",
        "user_id=u&metadata={}",
        "user_id=u&filters=__import__('os')",
        "user_id=u&filters=" + "(" * 200,
        "user_id=u&user_id=v",
    ],
)
def test_a_deletion_is_refused_rather_than_widened(caller: Caller, query: str) -> None:
    memory_id = caller.add("one", metadata={"a": 1})
    assert delete_all(caller, query).status == 400
    assert alive(caller, memory_id) == [True]


@pytest.mark.parametrize(
    "written",
    ['{"user_id": "u"}', "{'user_id': 'u'}", '{"AND": [{"user_id": "u"}]}', "{'userId': 'u', 'run_id': None}"],
)
def test_filters_come_as_json_or_as_a_python_literal(caller: Caller, written: str) -> None:
    mine, other = caller.add("one"), caller.add("one", user_id="v")
    reply = delete_all(caller, f"filters={quote(written)}")
    if "None" in written:
        assert reply.status == 400
        return
    assert reply.status == 200
    assert alive(caller, mine, other) == [False, True]


def test_metadata_narrows_a_deletion(caller: Caller) -> None:
    first = caller.add("one", metadata={"trip": "x"})
    second = caller.add("two", metadata={"trip": "y"})
    trip = quote('{"trip": "x"}')
    delete_all(caller, f"user_id=u&metadata={trip}")
    assert alive(caller, first, second) == [False, True]
    caller.world.settle()
    assert set(caller.points()) == {second}


def test_an_unknown_user_may_be_deleted_and_does_not_become_known(caller: Caller) -> None:
    assert isinstance(delete_all(caller, "user_id=nobody").body["message"], str)
    assert caller.send("DELETE", "/v2/entities/user/nobody/").status == 404


def test_an_add_that_was_waiting_falls_under_a_later_deletion(caller: Caller) -> None:
    body = {"messages": "I love hiking", "user_id": "u", "infer": False}
    waiting = caller.expect(200, "POST", "/v3/memories/add/", body)["event_id"]
    delete_all(caller, "user_id=u")
    later = caller.expect(200, "POST", "/v3/memories/add/", {**body, "messages": "I love sailing"})["event_id"]
    caller.world.settle()
    [before], [after] = (caller.get(f"/v1/event/{id_}/")["results"] for id_ in (waiting, later))
    assert alive(caller, before["id"], after["id"]) == [False, True]
    assert set(caller.points()) == {after["id"]}


@pytest.mark.parametrize("name", IDS)
def test_entity_names_round_trip_through_bodies_and_paths(caller: Caller, name: str) -> None:
    memory_id = caller.add("one", user_id=name)
    assert names(caller) == {("user", name)}
    path = f"/v2/entities/user/{quote(name, safe='')}/"
    [entity] = caller.get(path)
    assert (entity["name"], entity["total_memories"]) == (name, 1)
    answer = caller.expect(200, "DELETE", path)
    assert answer["message"] == "Delete in progress. This may take some time."
    assert alive(caller, memory_id) == [False]
    assert names(caller) == set()
    assert caller.send("DELETE", path).status == 200
    assert caller.get(path)[0]["total_memories"] == 0


def test_entities_are_listed_with_their_totals(caller: Caller) -> None:
    caller.add("one", agent_id="a", run_id="r")
    caller.add("two")
    caller.add("three", user_id=None, app_id="p")
    listing = caller.get("/v1/entities/")
    totals = {(entity["type"], entity["name"]): entity["total_memories"] for entity in listing["results"]}
    assert totals == {("user", "u"): 2, ("agent", "a"): 1, ("run", "r"): 1, ("app", "p"): 1}
    assert (listing["count"], listing["next"], listing["previous"]) == (4, None, None)
    assert [listing[f"total_{kind}s"] for kind in ("user", "agent", "app", "run")] == [1, 1, 1, 1]
    for entity in listing["results"]:
        assert isinstance(entity["id"], str)
        assert entity["updated_at"].endswith("+00:00")


def test_all_entities_come_unpaged_and_pages_hold_when_asked_for(caller: Caller) -> None:
    accepted = [
        caller.expect(200, "POST", "/v3/memories/add/", {"messages": "one", "user_id": f"u{n}", "infer": False})
        for n in range(130)
    ]
    caller.world.settle()
    assert len(caller.get("/v1/entities/")["results"]) == len(accepted)
    page = caller.get("/v1/entities/?page=2&page_size=50")
    assert (page["count"], len(page["results"])) == (130, 50)
    last = caller.get(page["next"].removeprefix(caller.world.server.url))
    assert (len(last["results"]), last["next"]) == (30, None)
    beyond = caller.send("GET", "/v1/entities/?page=99")
    assert (beyond.status, beyond.body["detail"]) == (404, "Invalid page.")


def test_bad_entity_addresses(api: World, caller: Caller) -> None:
    api.project().add("one", user_id="theirs")
    wrong = caller.send("DELETE", "/v2/entities/person/u/")
    assert (wrong.status, wrong.body["message"]) == (400, "Invalid entity type")
    assert caller.send("DELETE", "/v2/entities/user/theirs/").status == 404
    assert caller.send("GET", "/v2/entities/user/theirs/").status == 404
    number = caller.send("DELETE", "/v1/entities/user/abc/")
    assert (number.status, number.body["error"]) == (400, "Invalid entity ID. Must be an integer.")
    assert caller.send("DELETE", "/v1/entities/user/999999999/").status == 404
    assert caller.send("DELETE", f"/v1/entities/user/{'9' * 30}/").status == 400


def test_an_entity_is_deleted_by_its_number(caller: Caller) -> None:
    memory_id = caller.add("one")
    [entity] = caller.get("/v1/entities/")["results"]
    assert caller.send("DELETE", f"/v1/entities/agent/{entity['id']}/").status == 404
    answer = caller.expect(200, "DELETE", f"/v1/entities/user/{entity['id']}/")
    assert alive(caller, memory_id) == [False]
    assert caller.get(f"/v1/event/{answer['event_id']}/")["event_type"] == "DELETE_USER"
