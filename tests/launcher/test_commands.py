"""The commands beside a running stack: they find it by MEMLANE_HOME, and say clearly when there is none."""

from __future__ import annotations

import json
import secrets
from contextlib import closing, suppress
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from sqlalchemy import text

from core.adapters.qdrant import QdrantIndex
from core.domain.ids import project_wire_id
from deploy.local.failure import StackFailure
from tests.conftest import Stack, TestProject
from tests.launcher.commands import Command, memlane
from tests.waiting import wait_until


def test_a_key_made_by_the_command_works_until_it_is_revoked(stack: Stack) -> None:
    made = memlane("keys", "create", "by hand", home=stack.home)
    key = made.stdout.strip()
    headers = {"Authorization": f"Token {key}"}
    assert httpx.get(f"{stack.url}/v1/ping/", headers=headers, timeout=20).status_code == 200
    listed = memlane("keys", "list", home=stack.home).stdout
    line = next(line for line in listed.splitlines() if "by hand" in line)
    assert key not in listed
    key_id = next(word for word in line.split() if word.count("-") == 4)
    assert memlane("keys", "revoke", key_id, home=stack.home).returncode == 0
    assert httpx.get(f"{stack.url}/v1/ping/", headers=headers, timeout=20).status_code == 401


def test_a_project_is_named_by_either_form_of_its_id(project: TestProject, here: Command) -> None:
    public = project_wire_id(project.id)
    for written in (str(project.id), public):
        made = here("keys", "create", "another", "--project", written)
        assert made.exit_code == 0, made.output
        assert f"of project {project.id}" in made.stderr
        assert "0 events" in here("events", "list", "--project", written).stdout
    assert public in here("keys", "list").stdout


def test_a_key_cannot_be_made_without_a_database(tmp_path: Path) -> None:
    found = memlane("keys", "create", "nobody", home=tmp_path)
    assert found.returncode == 1
    assert "memlane up" in found.stderr
    assert "Traceback" not in found.stderr


def test_migrating_again_changes_nothing(stack: Stack) -> None:
    found = memlane("migrate", home=stack.home)
    assert found.returncode == 0
    assert "revision" in found.stdout


@pytest.mark.parametrize("queues", ["ingest,webhooks,upkeep", "ingest,upkeep", "drain", "", "ingest,"])
def test_a_worker_of_queues_that_do_not_go_together_is_refused(queues: str, tmp_path: Path) -> None:
    """One that took them all would ingest, and deliver nothing."""
    found = memlane("worker", "--queues", queues, home=tmp_path)
    assert found.returncode == 2
    assert "Start one for each" in found.stderr


@pytest.mark.parametrize(
    "command",
    [
        "up",
        "api",
        "worker",
        "beat",
        "flower",
        "migrate",
        "keys",
        "settings",
        "doctor",
        "events",
        "reindex",
        "export",
        "import",
    ],
)
def test_commands_explain_themselves(command: str, tmp_path: Path) -> None:
    found = memlane(command, "--help", home=tmp_path)
    assert found.returncode == 0
    assert len(found.stdout) > 200


def test_failed_events_are_seen_and_queued_again(
    stack: Stack, project: TestProject, client: httpx.Client, here: Command
) -> None:
    """Made to fail by what a lost worker leaves behind; the payload is there, so it can be done again."""
    body = {"messages": [{"role": "user", "content": "I grow orchids"}], "user_id": "u", "infer": False}
    event = client.post("/v3/memories/add/", json=body).raise_for_status().json()["event_id"]
    wait_until(lambda: client.get(f"/v1/event/{event}/").json()["status"] == "SUCCEEDED", what="the event ends")
    with stack.database.operations() as tx:
        failing = """UPDATE events SET state = 'failed', error = '{"code": "worker_lost", "detail": "lost"}'
                     WHERE id = :id"""
        tx.connection.execute(text(failing), {"id": event})
    mine = ("--project", str(project.id))
    listed = here("events", "list", "--failed", *mine).stdout
    assert event in listed
    assert "worker_lost" in listed
    assert "orchids" not in listed
    shown = here("events", "show", event).stdout
    assert json.loads(shown)["error"]["code"] == "worker_lost"
    assert "orchids" not in shown
    assert "orchids" in here("events", "show", event, "--payload").stdout
    failed = client.get("/v1/events/?status=FAILED").json()
    assert [item["id"] for item in failed["results"]] == [event]
    dry = here("events", "retry", "--failed-since", "2h", "--dry-run", *mine).stdout
    assert event in dry
    assert "1 of 1" in dry
    assert client.get(f"/v1/event/{event}/").json()["status"] == "FAILED"
    other = ("--code", "rate_limited")
    assert "0 of 0" in here("events", "retry", "--failed-since", "2h", *other, *mine).stdout
    again = here("events", "retry", "--failed-since", "2h", "--code", "worker_lost", *mine)
    assert "1 of 1 failed events are queued again" in again.stdout, again.exception
    wait_until(lambda: client.get(f"/v1/event/{event}/").json()["status"] == "SUCCEEDED", what="it ends again")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("retry",), "Which events?"),
        (("retry", "--failed-since", "soon"), "2h"),
        (("list", "--code", "no_such"), "no_such"),
        (("list", "--status", "odd"), "odd"),
        (("list", "--failed", "--status", "pending"), "--failed"),
    ],
)
def test_events_refuses_what_it_does_not_understand(here: Command, arguments: tuple[str, ...], says: str) -> None:
    refused = here("events", *arguments)
    assert isinstance(refused.exception, StackFailure)
    assert says in refused.exception.message + refused.exception.fix


@pytest.mark.long
def test_a_rebuild_that_is_killed_is_finished_by_the_next_one(
    stack: Stack, project: TestProject, client: httpx.Client
) -> None:
    """Killed between two batches, and after the switch with the old collection still there; searches never fail."""
    body = {"messages": [{"role": "user", "content": "I grow orchids"}], "user_id": "u", "infer": False}
    event = client.post("/v3/memories/add/", json=body).raise_for_status().json()["event_id"]
    wait_until(lambda: client.get(f"/v1/event/{event}/").json()["status"] == "SUCCEEDED", what="the event ends")
    asked = {"query": "orchids", "filters": {"user_id": "u"}}

    def found() -> list[str]:
        results = client.post("/v3/memories/search/", json=asked).raise_for_status().json()["results"]
        return [hit["memory"] for hit in results]

    with stack.database.operations() as tx:
        before = tx.ops.collections()["active"].name
    for point in ("reindex_copied:1", "reindex_switched:1"):
        killed = memlane("reindex", home=stack.home, MEMLANE_CRASH_AT=point)
        assert killed.returncode == 137, killed.stderr
        assert found() == ["I grow orchids"]
    done = memlane("reindex", home=stack.home)
    assert done.returncode == 0, done.stderr
    assert found() == ["I grow orchids"]
    with stack.database.operations() as tx:
        rows = tx.ops.collections()
    assert list(rows) == ["active"]
    assert rows["active"].name != before


def test_there_is_nothing_to_give_up_where_nothing_is_rebuilt(here: Command) -> None:
    given_up = here("reindex", "--abort")
    assert given_up.exit_code == 0, given_up.exception
    assert "nothing" in given_up.stdout


@pytest.mark.long
def test_a_lost_point_is_found_by_the_deep_look_and_repaired(
    stack: Stack, project: TestProject, client: httpx.Client
) -> None:
    stored(client, "I grow orchids", "u")
    with stack.database.operations() as tx:
        active = tx.ops.collections()["active"].name
        [row] = tx.connection.execute(text("SELECT id FROM memories WHERE project_id = :p"), {"p": project.id})
    environment = stack.state.environment
    with closing(QdrantIndex(environment["MEMLANE_QDRANT_URL"], environment["MEMLANE_QDRANT_API_KEY"])) as index:
        index.delete([active], [row.id])
        found = memlane("doctor", "--deep", home=stack.home)
        assert found.returncode == 1
        assert str(row.id) in found.stdout
        fixed = memlane("doctor", "--deep", "--fix", home=stack.home)
        assert fixed.returncode == 0, fixed.stdout + fixed.stderr
        wait_until(lambda: index.fetch(active, [row.id]), what="the point comes back")


def stored(client: httpx.Client, memory: str, user: str) -> None:
    body = {"messages": [{"role": "user", "content": memory}], "user_id": user, "infer": False}
    event = client.post("/v3/memories/add/", json=body).raise_for_status().json()["event_id"]
    wait_until(lambda: client.get(f"/v1/event/{event}/").json()["status"] == "SUCCEEDED", what="the event ends")


@pytest.mark.long
def test_what_was_erased_is_nowhere_on_the_disk_after_compacting(stack: Stack, client: httpx.Client) -> None:
    """Bytes of every file: of tables, indexes, statistics, the log, the segments of Edge, and our own logs."""
    canary, user = f"zyxel{secrets.token_hex(6)}", f"whom{secrets.token_hex(6)}"
    for n in range(30):
        stored(client, f"The pass phrase number {n} is {canary}", user)
    found = client.post("/v3/memories/search/", json={"query": canary, "filters": {"user_id": user}}).json()
    assert found["results"]
    with stack.database.operations() as tx:
        tx.connection.execute(text("SELECT count(*) FROM memories WHERE memory LIKE :c"), {"c": f"%{canary}%"})
    assert traces(stack, canary) != []
    assert traces(stack, user) != []
    erased = client.delete(f"/v2/entities/user/{user}/").raise_for_status().json()
    event = erased["event_id"]
    wait_until(lambda: client.get(f"/v1/event/{event}/").json()["status"] == "SUCCEEDED", what="the erasure ends")
    compacted = memlane("doctor", "--compact", home=stack.home)
    assert compacted.returncode == 0, compacted.stdout + compacted.stderr
    assert traces(stack, canary) == []
    assert traces(stack, user) == []
    stored(client, "I still grow orchids", "v")


def traces(stack: Stack, word: str) -> list[str]:
    """The files that hold these bytes."""
    folders = {stack.home, Path(stack.state.postgres_data or stack.home)}
    found = []
    for path in (path for folder in folders for path in folder.rglob("*")):
        with suppress(FileNotFoundError):  # files of a running system come and go
            if path.is_file() and word.encode() in path.read_bytes():
                found.append(str(path))
    return found


def test_a_project_is_exported_and_imported_again(
    stack: Stack, project: TestProject, client: httpx.Client, here: Command, tmp_path: Path
) -> None:
    """Into the same project, where all of it stands already; a file that is there is never written over."""
    stored(client, "I grow orchids", "u")
    for name in ("all.jsonl", "all.jsonl.gz"):
        file = tmp_path / name
        written = here("export", "--project", str(project.id), str(file))
        assert written.exit_code == 0, written.exception
        assert file.stat().st_mode & 0o777 == 0o600
        refused = here("export", "--project", project_wire_id(project.id), str(file))
        assert "exists already" in str(getattr(refused.exception, "message", ""))
        again = here("import", "--project", project_wire_id(project.id), str(file))
        assert "0 of them new" in again.stdout, again.exception
    file.write_bytes(file.read_bytes()[:-20])
    broken = here("import", "--project", str(project.id), str(file))
    assert isinstance(broken.exception, StackFailure)
    unknown = here("export", "--project", str(uuid4()), str(tmp_path / "none.jsonl"))
    assert isinstance(unknown.exception, StackFailure)
    assert list(tmp_path.glob("none*")) == []
