"""`memlane up` as a person meets it: it starts, refuses, survives and leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from deploy.local.launch import Launch
from deploy.local.parts import INGEST_NICE
from deploy.local.ports import free_port, is_free
from deploy.local.stack_state import StackState, read_state
from tests.stack import launch, short_home
from tests.waiting import wait_until

_RUN_FILES = ("lock", "stack.json", "postgres/postmaster.pid", "valkey/valkey.pid")
LONG = "a-folder-with-a-long-name-" * 4


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """One home for all tests here, far longer than a socket's path may be: only the first start makes a database."""
    base = short_home()
    base.chmod(0o711)
    yield base / LONG / LONG / "home"
    shutil.rmtree(base, ignore_errors=True)


@pytest.fixture(scope="module")
def flower_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def first(home: Path, flower_port: int) -> Iterator[tuple[Launch, StackState]]:
    started = launch(home, {"MEMLANE_FLOWER_PORT": str(flower_port)})
    try:
        yield started, started.wait_ready()
    finally:
        if started.process.poll() is None:
            started.stop()


@pytest.fixture(scope="module")
def api(first: tuple[Launch, StackState]) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=first[1].api_url, timeout=20.0) as client:
        yield client


def processes_of(home: Path) -> list[psutil.Process]:
    """Everything whose environment or command line names this home; a PostgreSQL backend has neither of its own."""
    found = []
    for process in psutil.process_iter():
        try:
            named = str(home) in " ".join(process.cmdline()) or process.environ().get("MEMLANE_HOME") == str(home)
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
        if named and process.status() != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found


def nothing_left(home: Path, state: StackState) -> bool:
    socket_folder = Path(state.socket_folder or "")
    left = [
        name
        for name in ("lock", "stack.json", "postgres/postmaster.pid", "valkey/valkey.pid")
        if (home / name).exists()
    ]
    return not processes_of(home) and not left and not socket_folder.exists() and not _answers(state.api_url)


def _answers(url: str) -> bool:
    address = httpx.URL(url)
    with socket.socket() as probe:
        return probe.connect_ex((address.host, address.port or 80)) == 0


def test_it_says_where_everything_is(first: tuple[Launch, StackState], home: Path, flower_port: int) -> None:
    started, state = first
    wait_until(lambda: "Stop with Ctrl-C" in started.output, 5)
    for word in (state.api_url, f"{state.api_url}/docs", f"http://127.0.0.1:{flower_port}", "api_key", "logs"):
        assert word in started.output


def test_every_part_is_ready(api: httpx.Client) -> None:
    assert api.get("/readyz", params={"all": 1}).status_code == 200


def test_the_kept_key_opens_the_api(api: httpx.Client, home: Path) -> None:
    key = (home / "api_key").read_text().strip()
    assert api.get("/v1/ping/", headers={"Authorization": f"Token {key}"}).status_code == 200


def test_secrets_are_readable_by_their_owner_alone(first: tuple[Launch, StackState], home: Path) -> None:
    names = ["api_key", "flower_password", "qdrant_api_key", "valkey_password", "secret_key", "stack.json"]
    files = [home / name for name in names] + [home / "valkey" / "valkey.conf"]
    assert {file.name: oct(file.stat().st_mode & 0o077) for file in files} == {file.name: "0o0" for file in files}
    assert Path(first[1].socket_folder or "").stat().st_mode & 0o077 == 0


def test_no_secret_stands_on_a_command_line(first: tuple[Launch, StackState], home: Path) -> None:
    secrets = {(home / name).read_text().strip() for name in ("api_key", "flower_password", "qdrant_api_key")}
    secrets.add((home / "valkey_password").read_text().strip())
    lines = [" ".join(process.cmdline()) for process in processes_of(home)]
    assert len(lines) > 5
    assert [line for line in lines if any(secret in line for secret in secrets)] == []


def test_flower_asks_for_a_password_and_changes_nothing(first: tuple[Launch, StackState], home: Path) -> None:
    url = first[1].flower_url or ""
    with httpx.Client(base_url=url, timeout=20.0) as flower:
        wait_until(lambda: _answers(url), 60)
        assert flower.get("/api/workers").status_code == 401
        flower.auth = ("memlane", (home / "flower_password").read_text().strip())
        look = {"refresh": "true"}
        found = wait_until(lambda: flower.get("/api/workers", params=look).json(), 30, what="Flower sees a worker")
        worker = next(iter(found))
        assert worker.startswith(("ingest-1@", "upkeep@"))
        assert flower.post(f"/api/worker/shutdown/{worker}").status_code in (403, 404, 405)


def test_ingestion_yields_to_the_api(first: tuple[Launch, StackState]) -> None:
    nice = {name: psutil.Process(part.pid).nice() for name, part in first[1].parts.items()}
    current = os.getpriority(os.PRIO_PROCESS, 0)
    lowered = min(current + INGEST_NICE, 19)
    assert (nice["ingest-1"], nice["api"]) == (lowered, current)
    group = Path(f"/proc/{first[1].parts['ingest-1'].pid}/autogroup")
    if group.exists():  # else the kernel shares processor time between processes alone
        assert group.read_text().split()[1:] == ["nice", str(lowered)]


def test_a_second_instance_is_refused_and_told_where_the_first_is(
    first: tuple[Launch, StackState], home: Path
) -> None:
    second = launch(home / "..", {"MEMLANE_HOME": str(home)})
    assert second.process.wait(30) == 1
    second.let_go()
    assert "already running" in second.output
    assert first[1].api_url in second.output
    assert first[0].process.poll() is None


def test_a_taken_port_is_a_clear_refusal(first: tuple[Launch, StackState]) -> None:
    other = short_home()
    port = str(httpx.URL(first[1].api_url).port)
    refused = launch(other, {"MEMLANE_PORT": port})
    assert refused.process.wait(30) == 1
    refused.let_go()
    assert f"127.0.0.1:{port}" in refused.output
    assert "MEMLANE_PORT" in refused.output
    assert processes_of(other) == []
    shutil.rmtree(other)


@pytest.mark.parametrize("name", ["valkey", "endpoint", "postgres", "api"])
def test_a_killed_part_comes_back(first: tuple[Launch, StackState], api: httpx.Client, home: Path, name: str) -> None:
    before = (read_state(home) or first[1]).parts[name]
    os.kill(before.pid, signal.SIGKILL)
    wait_until(
        lambda: (s := read_state(home)) and s.parts.get(name) not in (None, before), 30, what=f"{name} is back"
    )
    wait_until(lambda: api.get("/readyz", params={"all": 1}).status_code == 200, 60, what=f"ready again after {name}")


def test_a_killed_launcher_takes_its_children_along_and_can_be_started_again(
    first: tuple[Launch, StackState], home: Path, flower_port: int
) -> None:
    """The second start has Flower's port taken, which is a warning only; Ctrl-C then leaves nothing."""
    started, _ = first
    os.kill(started.process.pid, signal.SIGKILL)
    started.process.wait(10)
    started.let_go()
    wait_until(lambda: is_free("127.0.0.1", flower_port), 30)
    with socket.create_server(("127.0.0.1", flower_port)):
        again = launch(home, {"MEMLANE_FLOWER_PORT": str(flower_port)})
        try:
            state = again.wait_ready()
            assert f"Port {flower_port} is taken" in again.output
            assert state.flower_url not in (None, f"http://127.0.0.1:{flower_port}")
        finally:
            assert again.stop(signal.SIGINT) == 0
    wait_until(lambda: nothing_left(home, state), 10, what="nothing is left")
