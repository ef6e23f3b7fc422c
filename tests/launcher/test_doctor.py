"""`memlane doctor` and `memlane settings` beside a running stack."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Stack
from tests.launcher.commands import Command, memlane
from tests.waiting import wait_until


def kinds_alive(stack: Stack) -> set[str]:
    with stack.database.operations() as tx:
        return {row.kind for row in tx.ops.alive(10.0)}


def addresses(stack: Stack) -> dict[str, str]:
    """The parts of the stack as services that variables name: seen from a home in which nothing runs."""
    return {name: value for name, value in stack.state.environment.items() if name != "MEMLANE_HOME"}


def test_doctor_finds_a_healthy_stack(stack: Stack) -> None:
    wait_until(lambda: kinds_alive(stack) == {"ingest", "webhooks"}, 60, what="the companions have started too")
    found = memlane("doctor", home=stack.home)
    assert found.returncode == 0, found.stdout + found.stderr
    for part in ("API", "PostgreSQL", "Schema", "Workers", "Broker", "Index", "Embedder"):
        assert f"ok      {part}" in found.stdout


def test_doctor_without_a_stack_says_what_to_start(tmp_path: Path) -> None:
    found = memlane("doctor", home=tmp_path)
    assert found.returncode == 1
    assert "BROKEN  PostgreSQL" in found.stdout
    assert "memlane up" in found.stdout


@pytest.mark.parametrize("url", ["redis://127.0.0.1:9/0", "amqp://127.0.0.1:9//"])
def test_doctor_names_the_dependency_that_does_not_answer(stack: Stack, tmp_path: Path, url: str) -> None:
    found = memlane("doctor", home=tmp_path, **addresses(stack) | {"MEMLANE_BROKER_URL": url})
    assert found.returncode == 1
    assert "BROKEN  Broker" in found.stdout
    assert "ok      PostgreSQL" in found.stdout


def test_the_running_stack_is_described_whatever_this_shell_has_set(stack: Stack) -> None:
    """Also what the launcher was given by its own environment, here the rate limit of the tests."""
    other = {"MEMLANE_RATE_LIMIT_PER_MINUTE": "7", "MEMLANE_BROKER_URL": "redis://127.0.0.1:9/0"}
    found = memlane("settings", home=stack.home, **other)
    assert found.returncode == 0, found.stdout + found.stderr
    first, *table = found.stdout.splitlines()
    assert first.startswith(f"Local stack: running in {stack.home}. The settings are those of the running stack")
    assert "MEMLANE_BROKER_URL, MEMLANE_RATE_LIMIT_PER_MINUTE" in first
    [limit] = [line.split()[1:4] for line in table if line.startswith("MEMLANE_RATE_LIMIT_PER_MINUTE")]
    assert limit == ["0", "running", "stack"]
    assert stack.state.environment["MEMLANE_API_KEY"] not in found.stdout
    assert "ok      Broker" in memlane("doctor", home=stack.home, **other).stdout


def test_doctor_says_when_limits_are_counted_alone(stack: Stack, tmp_path: Path) -> None:
    found = memlane("doctor", home=tmp_path, **addresses(stack) | {"MEMLANE_REDIS_URL": "redis://127.0.0.1:9/0"})
    assert "Rate limits" in found.stdout
    assert "each process counts alone" in found.stdout
    assert found.returncode == 0


def test_doctor_says_when_the_stored_vectors_are_of_another_embedder(
    here: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MEMLANE_HOME", str(tmp_path))
    assert "made with multilingual-e5-small" in here("doctor").stdout
    monkeypatch.setenv("MEMLANE_EMBEDDER_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("MEMLANE_EMBEDDER_MODEL", "other-model")
    conflicting = here("doctor")
    assert conflicting.exit_code == 1
    assert "made with multilingual-e5-small, and the embedder is other-model" in conflicting.stdout
    assert "reindex --re-embed" in conflicting.stdout
