"""Adds, updates, deletes and bulk deletions at once: no 5xx, and truth, history and index agree afterwards."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from core.services.drain import drain
from core.services.project import sweep_projections
from tests.api.world import Caller, World

CALLERS, ROUNDS = 6, 15


def agree(api: World, caller: Caller) -> None:
    """Truth, history, links and index of one project tell the same."""
    with api.parts.database.transaction(caller.project_id) as tx:
        run = tx.connection.exec_driver_sql
        assert run("SELECT count(*) FROM projections").scalar_one() == 0
        alive = {
            str(id_): version for id_, version in run("SELECT id, version FROM memories WHERE state <> 'deleted'")
        }
        newest = run(
            "SELECT DISTINCT ON (memory_id) memory_id, version, event FROM history ORDER BY memory_id, seq DESC"
        )
        told = {str(row.memory_id): (row.version, row.event) for row in newest}
        linked = {str(id_) for id_ in run("SELECT DISTINCT memory_id FROM entity_links").scalars()}
    assert {id_: version for id_, (version, event) in told.items() if event != "DELETE"} == alive
    assert linked <= set(alive)
    assert set(caller.points()) == set(alive)


def test_concurrent_changes_leave_everything_in_agreement(api: World, caller: Caller) -> None:
    statuses: list[tuple[str, int]] = []

    def send(method: str, target: str, body: Any = None) -> Any:
        reply = caller.send(method, target, body)
        statuses.append((f"{method} {target.split('?')[0][:14]}", reply.status))
        return reply

    def client(number: int) -> None:
        chance = random.Random(number)
        for round_ in range(ROUNDS):
            text = f"Nora met Ana in Porto {chance.randrange(40)}"
            send("POST", "/v3/memories/add/", {"messages": text, "user_id": f"u{number % 2}", "infer": False})
            found = send("GET", f"/v1/memories/user/u{chance.randrange(2)}/").body["results"]
            for row in chance.sample(found, min(3, len(found))):
                path = f"/v1/memories/{row['id']}/"
                if chance.random() < 0.6:
                    send("PUT", path, {"text": f"Nora left Rome {chance.randrange(40)}", "metadata": {"r": round_}})
                else:
                    send("DELETE", path + "?delete_linked=true")
            if chance.random() < 0.1:
                send("DELETE", f"/v1/memories/?user_id=u{number % 2}")

    stopped = threading.Event()

    def work() -> None:
        while not stopped.is_set():
            drain(api.executor)
            sweep_projections(api.parts.runtime, older_than=0)
            stopped.wait(0.01)

    worker = threading.Thread(target=work)
    worker.start()
    with ThreadPoolExecutor(CALLERS) as pool:
        list(pool.map(client, range(CALLERS)))
    stopped.set()
    worker.join(60)
    assert not worker.is_alive()
    caller.world.settle()
    sweep_projections(api.parts.runtime, older_than=-1)
    assert {status for _, status in statuses} <= {200, 404, 409}, [pair for pair in statuses if pair[1] >= 500]
    agree(api, caller)
