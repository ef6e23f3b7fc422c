"""The server topology: docker-compose.yaml is sound, and its commands and environment work together.

No container runs here. The file's own commands are started with its own environment on this machine, beside a
PostgreSQL, a Valkey and an index endpoint at the places that the containers would have.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from core.settings import Settings
from deploy.cli.settings import contradictions
from deploy.docker import answers, worker_alive
from deploy.local import parts
from deploy.local.ports import free_port
from deploy.local.postgres_server import running_postgres
from deploy.local.supervisor import Supervisor
from deploy.local.valkey import Valkey
from tests.launcher.compose import FILE, MissingVariable, Processes, read_compose
from tests.stack import ROOT, short_home
from tests.waiting import wait_until

SECRETS = {
    "POSTGRES_PASSWORD": "pg-secret-1",
    "REDIS_PASSWORD": "redis-secret-2",
    "QDRANT_API_KEY": "qdrant-secret-3",
    "FLOWER_PASSWORD": "flower-secret-4",
    "MEMLANE_SECRET_KEY": "0123456789abcdef0123456789abcdef",
    "MEMLANE_API_KEY": "m0-compose-test-key-0123456789abcdef",
}
OURS = ("migrate", "api", "worker", "webhooks", "beat", "flower")
PARTS = ("postgres", "redis", "qdrant")
DOCKERFILE = (ROOT / "deploy" / "docker" / "Dockerfile").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    return read_compose(SECRETS)


@pytest.mark.parametrize("secret", SECRETS)
def test_it_does_not_start_without_any_of_its_secrets(secret: str) -> None:
    with pytest.raises(MissingVariable, match=secret):
        read_compose({name: value for name, value in SECRETS.items() if name != secret})


def test_no_secret_has_a_default_in_the_file() -> None:
    assert not re.search(r"\$\{\w*(?:PASSWORD|SECRET|QDRANT_API_KEY)\w*:-[^}]+\}", FILE.read_text(encoding="utf-8"))


def test_all_processes_and_parts_are_there(services: dict[str, Any]) -> None:
    assert set(services) == {*OURS, *PARTS}


def test_versions_are_pinned(services: dict[str, Any]) -> None:
    images = [service["image"] for service in services.values()] + re.findall(
        r"^FROM (\S+)", DOCKERFILE, re.MULTILINE
    )
    assert [image for image in images if not re.search(r":v?\d+\.\d+", image)] == []


@pytest.mark.parametrize("name", [*OURS, *PARTS])
def test_each_service_restarts_stops_gracefully_and_tells_its_health(services: dict[str, Any], name: str) -> None:
    service = services[name]
    assert service["restart"] in ("unless-stopped", "on-failure")
    if name not in ("migrate", "beat"):  # one ends by itself, the other has nothing to ask
        assert service["healthcheck"]["test"]
    if name in OURS:
        assert int(service["stop_grace_period"].removesuffix("s")) > 20, "a worker needs 20 s to hand back"


def test_ingestion_yields_to_searches_and_adds(services: dict[str, Any]) -> None:
    shares = {name: service.get("cpu_shares", 1024) for name, service in services.items()}
    assert [name for name, share in shares.items() if share < 1024] == ["worker"]


def test_our_processes_run_without_privileges(services: dict[str, Any]) -> None:
    assert re.search(r"^USER memlane$", DOCKERFILE, re.MULTILINE)
    for name in OURS:
        assert services[name]["cap_drop"] == ["ALL"]
        assert services[name]["read_only"] is True


def test_webhooks_reach_no_private_address(services: dict[str, Any]) -> None:
    for name in OURS:
        assert services[name]["environment"]["MEMLANE_WEBHOOK_ALLOW_PRIVATE"] == "none"


def test_every_variable_is_a_setting(services: dict[str, Any]) -> None:
    given = {key for name in OURS for key in services[name]["environment"]}
    assert given <= {f"MEMLANE_{name.upper()}" for name in Settings.model_fields}


def test_memlane_settings_finds_nothing_wrong_with_them(
    services: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(os.environ):
        if name.startswith("MEMLANE_"):
            monkeypatch.delenv(name)
    for name in OURS:
        for key, value in services[name]["environment"].items():
            monkeypatch.setenv(key, str(value))
        assert contradictions(Settings()) == []


def test_what_is_published_listens_on_loopback_alone(services: dict[str, Any]) -> None:
    published = [port for service in services.values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)


@pytest.fixture
def processes(services: dict[str, Any]) -> Iterator[Processes]:
    """The three parts at this machine's places, and the means to start the file's services beside them."""
    home = short_home()
    ports = {name: free_port() for name in ("redis", "qdrant", "api", "flower", "metrics")}
    valkey = Valkey(home, ports["redis"], SECRETS["REDIS_PASSWORD"])
    valkey.prepare()
    environment = {**os.environ, "MEMLANE_QDRANT_API_KEY": SECRETS["QDRANT_API_KEY"]}
    supervisor = Supervisor(home / "logs", environment, say=lambda line: None)
    try:
        with running_postgres(home, durable=False) as postgres:
            supervisor.start(parts.guard_part(home, None))
            supervisor.start(parts.valkey_part(valkey))
            supervisor.start(parts.endpoint(home, ports["qdrant"]))
            supervisor.wait_for(valkey.ready, "Valkey was not ready", 30)
            postgres.create_database()
            elsewhere = {
                "@postgres:5432/memlane": "@/memlane" + postgres.url()[postgres.url().index("?") :],
                "redis:6379": f"127.0.0.1:{ports['redis']}",
                "qdrant:6333": f"127.0.0.1:{ports['qdrant']}",
                "0.0.0.0": "127.0.0.1",
                "8765": str(ports["api"]),
                "5555": str(ports["flower"]),
                "9464": str(ports["metrics"]),
                "/tmp/beat-schedule": str(home / "beat-schedule"),
            }
            yield Processes(services, elsewhere, home)
    finally:
        supervisor.stop(parts.STOP_ORDER)
        shutil.rmtree(home, ignore_errors=True)


def test_the_files_commands_and_environment_carry_an_add_to_its_search(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert processes.run("migrate") == 0, processes.output("migrate")
    for name in OURS[1:]:
        processes.start(name)
    try:
        url = f"http://127.0.0.1:{processes.elsewhere['8765']}"
        headers = {"Authorization": f"Token {SECRETS['MEMLANE_API_KEY']}"}
        with httpx.Client(base_url=url, headers=headers, timeout=10) as client:
            wait_until(lambda: _ready(client), 90, what=f"ready: {processes.output('api')[-2000:]}")
            _add_and_search(client)
        _check_health(processes, url, monkeypatch)
        _check_metrics(processes)
    finally:
        codes = processes.stop()
    assert -9 not in codes.values(), "every process ends by itself when it is asked to"


def _ready(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz?all=1").status_code == 200
    except httpx.TransportError:
        return False


def _add_and_search(client: httpx.Client) -> None:
    body = {"messages": [{"role": "user", "content": "My bicycle is stored in cellar 14."}], "user_id": "compose"}
    event_id = client.post("/v3/memories/add/", json=body).raise_for_status().json()["event_id"]

    def ended() -> dict[str, Any] | None:
        event: dict[str, Any] = client.get(f"/v1/event/{event_id}/").raise_for_status().json()
        return event if event["status"] in ("SUCCEEDED", "FAILED") else None

    event = wait_until(ended, 60, what="the add ends")
    assert event["status"] == "SUCCEEDED", event
    search = {"query": "Where is the bicycle?", "filters": {"user_id": "compose"}}
    results = client.post("/v3/memories/search/", json=search).raise_for_status().json()["results"]
    assert "cellar 14" in results[0]["memory"]


def _check_metrics(processes: Processes) -> None:
    """On one machine the two workers share a port, so the first has it; in containers each has its own."""
    page = httpx.get(f"http://127.0.0.1:{processes.elsewhere['9464']}/metrics", timeout=10).raise_for_status().text
    assert "memlane_signals_total" in page


def _check_health(processes: Processes, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the file's health checks ask, asked here."""
    assert answers.main(f"{url}/readyz") == 0
    assert answers.main(f"{url}/no-such-page") == 1
    flower = f"http://127.0.0.1:{processes.elsewhere['5555']}/healthcheck"
    wait_until(lambda: answers.main(flower) == 0, 30, what=f"Flower answers; {processes.output('flower')[-2000:]}")
    database_url = processes.services["worker"]["environment"]["MEMLANE_DATABASE_URL"]
    monkeypatch.setenv(
        "MEMLANE_DATABASE_URL",
        database_url.replace("@postgres:5432/memlane", processes.elsewhere["@postgres:5432/memlane"]),
    )
    assert worker_alive.main(os.uname().nodename) == 0
    assert worker_alive.main("no-such-host") == 1
