"""`as_of` in listing: the list as it was at an earlier time, whatever has happened to its memories since."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from core.domain.memory import MemoryState
from tests.api.world import Caller, World

V3 = "/v3/memories/"


def listed(caller: Caller, moment: datetime | str | None, filters: Any = None, **body: Any) -> list[dict[str, Any]]:
    if moment is not None:
        body["as_of"] = moment if isinstance(moment, str) else moment.isoformat()
    found = caller.expect(200, "POST", V3, {"filters": filters or {"user_id": "u"}, **body})
    assert found["count"] == len(found["results"])
    results: list[dict[str, Any]] = found["results"]
    return results


def texts(caller: Caller, moment: datetime | None, filters: Any = None, **body: Any) -> list[str]:
    return [memory["memory"] for memory in listed(caller, moment, filters, **body)]


def now(api: World) -> datetime:
    """The database's clock, which stamps what is stored."""
    with api.parts.database.operations() as tx:
        moment: datetime = tx.connection.execute(text("SELECT clock_timestamp()")).scalar_one()
    return moment


def put(caller: Caller, memory_id: str, **change: Any) -> None:
    caller.expect(200, "PUT", f"/v1/memories/{memory_id}/", change)


def test_a_list_is_empty_before_its_first_memory(api: World, caller: Caller) -> None:
    before = now(api)
    caller.add("Ben sails")
    assert texts(caller, before - timedelta(minutes=1)) == []
    assert texts(caller, now(api)) == texts(caller, None) == ["Ben sails"]


def test_updates_and_reverts_show_text_metadata_and_version_of_then(api: World, caller: Caller) -> None:
    memory_id = caller.add("Ben sails", metadata={"club": "north"})
    moments = [now(api)]
    for change in ({"text": "Ben rows", "metadata": {"club": "south"}}, {"metadata": {"club": "west"}}):
        put(caller, memory_id, **change)
        moments.append(now(api))
    caller.expect(200, "POST", f"/v1/memories/{memory_id}/revert/", {"version": 1})
    moments.append(now(api))
    shown = [listed(caller, moment)[0] for moment in moments]
    assert [(one["memory"], one["metadata"]["club"], one["version"]) for one in shown] == [
        ("Ben sails", "north", 1),
        ("Ben rows", "south", 2),
        ("Ben rows", "west", 3),
        ("Ben sails", "north", 4),
    ]
    assert shown[3] == listed(caller, None)[0]
    assert len({one["created_at"] for one in shown}) == 1
    assert len({one["updated_at"] for one in shown}) == 4


def test_filters_are_held_against_the_version_of_then(api: World, caller: Caller) -> None:
    memory_id = caller.add("Ben sails", metadata={"club": "north"})
    then = now(api)
    put(caller, memory_id, text="Ben rows", metadata={"club": "south"})
    north, south = ({"AND": [{"user_id": "u"}, {"metadata": {"club": club}}]} for club in ("north", "south"))
    assert (texts(caller, then, north), texts(caller, then, south)) == (["Ben sails"], [])
    assert (texts(caller, None, north), texts(caller, None, south)) == ([], ["Ben rows"])
    assert texts(caller, then, keywords="rows") == []
    assert texts(caller, then, keywords="sails") == ["Ben sails"]


def test_what_was_superseded_later_was_current_then(api: World, caller: Caller) -> None:
    old = caller.add("Ben lives in Lyon", timestamp=1_700_000_000)
    new = caller.add("Ben lives in Porto", timestamp=1_710_000_000)
    moved = datetime.fromtimestamp(1_710_000_000, UTC)
    with api.parts.database.transaction(caller.project_id) as tx:
        before, by = (tx.changes.lock(caller.project_id, [id_])[0] for id_ in (old, new))
        assert tx.memories.close(before.id, MemoryState.SUPERSEDED.value, by.id, "changed", moved)
        after = tx.changes.read(caller.project_id, before.id)
        after.updated_at = moved
        tx.changes.record_update(before, after, None)
    year = timedelta(days=365)
    assert texts(caller, moved - year) == []
    [then] = listed(caller, moved - timedelta(days=1))
    assert (then["memory"], then["lifecycle_state"]) == ("Ben lives in Lyon", "active")
    assert then.get("replaced_by") is None
    assert texts(caller, moved - timedelta(days=1), latest_only=True) == ["Ben lives in Lyon"]
    assert texts(caller, moved + timedelta(days=1), latest_only=True) == ["Ben lives in Porto"]
    assert texts(caller, moved + timedelta(days=1)) == ["Ben lives in Porto", "Ben lives in Lyon"]


def test_what_is_deleted_or_erased_since_stays_gone(api: World, caller: Caller) -> None:
    single, _, kept = caller.add("Ben sails"), caller.add("Ann rows", user_id="ann"), caller.add("Ben reads")
    put(caller, single, text="Ben rows")
    then = now(api)
    caller.expect(200, "DELETE", f"/v1/memories/{single}/")
    assert texts(caller, then) == ["Ben reads"]
    caller.expect(200, "DELETE", "/v2/entities/user/ann/")
    assert texts(caller, then, {"user_id": "ann"}) == []
    api.settle()
    assert texts(caller, then, {"user_id": "*"}) == ["Ben reads"]
    assert [one["id"] for one in listed(caller, then)] == [kept]


def test_an_expired_memory_was_there_until_its_day(api: World, caller: Caller) -> None:
    day = datetime.now(UTC).date()
    caller.add("Ben is away", timestamp=1_700_000_000, expiration_date=(day - timedelta(days=30)).isoformat())
    with api.parts.database.operations() as tx:
        tx.connection.execute(text("UPDATE memories SET state = 'expired' WHERE memory = 'Ben is away'"))
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    assert texts(caller, noon - timedelta(days=31)) == ["Ben is away"]
    assert texts(caller, noon - timedelta(days=29)) == []
    assert texts(caller, noon - timedelta(days=29), show_expired=True) == ["Ben is away"]
    assert texts(caller, None) == []


def test_pages_and_projects_hold_at_an_earlier_time(api: World, caller: Caller) -> None:
    for number in range(5):
        caller.add(f"Ben reads book {number}", timestamp=1_700_000_000 + number)
    other = api.project("other")
    other.add("Ben reads too", timestamp=1_700_000_000)
    body = {"filters": {"user_id": "u"}, "as_of": 1_700_000_003}
    pages = [caller.expect(200, "POST", f"{V3}?page={page}&page_size=2", body) for page in (1, 2)]
    assert [page["count"] for page in pages] == [4, 4]
    numbers = [memory["memory"][-1] for page in pages for memory in page["results"]]
    assert numbers == ["3", "2", "1", "0"]


def test_the_older_list_takes_it_too(caller: Caller) -> None:
    caller.add("Ben sails", timestamp=1_700_000_000)
    body = {"filters": {"user_id": "u"}, "as_of": "2020-01-01"}
    assert caller.expect(200, "POST", "/v2/memories/", body) == []


@pytest.mark.parametrize("moment", ["yesterday", "2024-13-01", [], {"gte": 1}, True])
def test_what_is_no_time_is_400(caller: Caller, moment: Any) -> None:
    reply = caller.send("POST", V3, {"filters": {"user_id": "u"}, "as_of": moment})
    assert reply.status == 400
    assert "as_of" in str(reply.body)
