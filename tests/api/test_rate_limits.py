"""Rate limits over HTTP, and their buckets in a real Valkey."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from core.adapters.limits import RedisBuckets
from core.domain.ids import new_id
from tests.api.doubles import Remembering
from tests.api.world import Caller
from tests.conftest import Stack
from tests.waiting import wait_until


def limited(caller: Caller, limit: int) -> None:
    ping = caller.get("/v1/ping/")
    path = f"/api/v1/orgs/organizations/{ping['org_id']}/projects/{ping['project_id']}/"
    caller.expect(200, "PATCH", path, {"rate_limit_per_minute": limit})
    assert caller.get(path)["rate_limit_per_minute"] == limit
    # what a process knows of a limit may be a second old; the first answer that tells of it is counted
    wait_until(lambda: "x-ratelimit-limit" in caller.send("GET", "/v1/ping/").headers, what="the limit is known")


def test_a_project_may_set_its_limit_and_every_answer_tells_what_is_left(caller: Caller) -> None:
    assert "x-ratelimit-limit" not in caller.send("GET", "/v1/ping/").headers
    limited(caller, 4)
    replies = [caller.send("GET", "/v1/ping/") for _ in range(2)]
    replies.append(caller.send("GET", "/v1/memories/abc/"))
    assert [reply.status for reply in replies] == [200, 200, 400]
    assert [reply.headers["x-ratelimit-remaining"] for reply in replies] == ["2", "1", "0"]
    refused = caller.send("POST", "/v3/memories/add/", {"messages": "x", "user_id": "u"})
    assert (refused.status, refused.body["code"]) == (429, "rate_limited")
    assert 1 <= int(refused.headers["retry-after"]) <= 20
    assert refused.headers["x-ratelimit-limit"] == "4"
    assert refused.headers["x-ratelimit-remaining"] == "0"
    assert 1 <= int(refused.headers["x-ratelimit-reset"]) <= 60


def test_valkey_counts_for_all_processes_together(stack: Stack) -> None:
    url, key = stack.state.environment["MEMLANE_REDIS_URL"], str(new_id())
    processes = [RedisBuckets(url, Remembering()) for _ in range(2)]
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda n: processes[n % 2].take(key, 300, 1).granted, range(400)))
    assert 300 <= sum(taken) <= 330
    last = processes[0].take(key, 300, 400)
    assert last.granted < 30
    refused = processes[1].take(key, 1, 1)
    assert 0 < refused.wait <= 60 if not refused.granted else refused.remaining == 0
    for process in processes:
        process.close()


def test_without_valkey_each_process_counts_for_itself_and_says_so_once() -> None:
    telemetry = Remembering()
    buckets = RedisBuckets("redis://127.0.0.1:9/0", telemetry)
    taken = [buckets.take("k", 5, 1).granted for _ in range(8)]
    assert taken == [1, 1, 1, 1, 1, 0, 0, 0]
    assert [fields["change"] for _, fields in telemetry.records] == ["counted_alone"]
