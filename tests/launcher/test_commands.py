"""The commands beside a running stack: they find it by MEMLANE_HOME, and say clearly when there is none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.conftest import Stack
from tests.stack import ROOT, clean_environment


def memlane(*arguments: str, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "deploy.cli.main", *arguments], cwd=ROOT, capture_output=True, text=True,
        timeout=60, check=False, env=clean_environment(MEMLANE_HOME=str(home), **environment),
    )  # fmt: skip


def test_doctor_finds_a_healthy_stack(stack: Stack) -> None:
    found = memlane("doctor", home=stack.home)
    assert found.returncode == 0, found.stdout + found.stderr
    for part in ("PostgreSQL", "Schema", "Workers", "Broker", "Index", "Embedder"):
        assert f"ok      {part}" in found.stdout


def test_doctor_without_a_stack_says_what_to_start(tmp_path: Path) -> None:
    found = memlane("doctor", home=tmp_path)
    assert found.returncode == 1
    assert "BROKEN  PostgreSQL" in found.stdout
    assert "memlane up" in found.stdout


@pytest.mark.parametrize("url", ["redis://127.0.0.1:9/0", "amqp://127.0.0.1:9//"])
def test_doctor_names_the_dependency_that_does_not_answer(stack: Stack, url: str) -> None:
    found = memlane("doctor", home=stack.home, MEMLANE_BROKER_URL=url)
    assert found.returncode == 1
    assert "BROKEN  Broker" in found.stdout
    assert "ok      PostgreSQL" in found.stdout


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


def test_a_key_cannot_be_made_without_a_database(tmp_path: Path) -> None:
    found = memlane("keys", "create", "nobody", home=tmp_path)
    assert found.returncode == 1
    assert "memlane up" in found.stderr
    assert "Traceback" not in found.stderr


def test_migrating_again_changes_nothing(stack: Stack) -> None:
    found = memlane("migrate", home=stack.home)
    assert found.returncode == 0
    assert "revision" in found.stdout


@pytest.mark.parametrize(
    "command", ["up", "api", "worker", "beat", "flower", "migrate", "keys", "settings", "doctor"]
)
def test_commands_explain_themselves(command: str, tmp_path: Path) -> None:
    found = memlane(command, "--help", home=tmp_path)
    assert found.returncode == 0
    assert len(found.stdout) > 200
