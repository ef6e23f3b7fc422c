"""`memlane settings` and the settings of commands: nothing secret is printed, what is wrong is named."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from pydantic import SecretStr
from typer.testing import CliRunner

from core.settings import Settings
from deploy.cli.configuration import load_settings
from deploy.cli.main import app
from deploy.cli.settings import contradictions, inside, shown, without_password
from deploy.local.failure import StackFailure


@pytest.fixture(autouse=True)
def clean(tmp_path: Path) -> Iterator[None]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMLANE_", "OPENAI_"))}
    with patch.dict(os.environ, kept | {"MEMLANE_HOME": str(tmp_path)}, clear=True):
        yield


def _run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.output


def test_all_settings_are_listed_and_valid() -> None:
    code, output = _run("settings")
    assert code == 0
    for name in Settings.model_fields:
        assert name.upper() in output
    assert "All settings are valid." in output


def test_no_secret_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLANE_API_KEY", "ml-canary-key")
    monkeypatch.setenv("MEMLANE_DATABASE_URL", "postgresql://someone:canary-password@db.example/memlane")
    monkeypatch.setenv("MEMLANE_LLM_BASE_URL", "https://user:canary-url@models.example/v1")
    code, output = _run("settings")
    assert code == 0
    assert "canary" not in output
    assert "db.example" in output


def test_a_misspelt_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLANE_WORKER", "2")
    code, output = _run("settings")
    assert code == 1
    assert "MEMLANE_WORKER is not a setting" in output


def test_a_wrong_value_is_named_with_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLANE_PORT", "eighty")
    with pytest.raises(StackFailure, match="MEMLANE_PORT"):
        load_settings()


def test_an_error_about_a_secret_does_not_print_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLANE_LLM_TIMEOUT", "canary")
    with pytest.raises(StackFailure) as failure:
        load_settings()
    assert "MEMLANE_LLM_TIMEOUT" in str(failure.value)
    assert "canary" not in str(failure.value)


@pytest.mark.parametrize(
    ("variable", "value", "word"),
    [
        ("MEMLANE_DATABASE_URL", "mysql://x/y", "MEMLANE_DATABASE_URL"),
        ("MEMLANE_BROKER_URL", "kafka://x", "MEMLANE_BROKER_URL"),
        ("MEMLANE_REDIS_URL", "valkey://x", "MEMLANE_REDIS_URL"),
        ("MEMLANE_QDRANT_URL", "localhost:6333", "MEMLANE_QDRANT_URL"),
        ("MEMLANE_SWEEP_SECONDS", "60", "MEMLANE_SWEEP_SECONDS"),
    ],
)
def test_what_contradicts_is_found(monkeypatch: pytest.MonkeyPatch, variable: str, value: str, word: str) -> None:
    monkeypatch.setenv(variable, value)
    assert any(word in problem for problem in contradictions(load_settings()))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "–"),
        (SecretStr("abc"), "********"),
        (SecretStr("redis://:pw@h:1/0"), "redis://:********@h:1/0"),
        (8765, "8765"),
    ],
)
def test_how_values_are_shown(value: object, expected: str) -> None:
    assert shown(value) == expected


def test_a_url_without_password_stays_as_it_is() -> None:
    assert without_password("http://h/x") == "http://h/x"


@pytest.mark.parametrize(
    ("host", "private"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("qdrant", True),
        ("10.1.2.3", True),
        ("qdrant.memory.svc.cluster.local", True),
        ("qdrant.example.com", False),
        ("8.8.8.8", False),
        ("cluster.local.example.com", False),
    ],
)
def test_a_key_may_go_unencrypted_inside_a_private_network_alone(host: str, private: bool) -> None:
    assert inside(host) is private
    url = f"http://[{host}]:6333" if ":" in host else f"http://{host}:6333"
    found = contradictions(Settings(qdrant_url=url, qdrant_api_key=SecretStr("key")))
    assert any("unencrypted" in problem for problem in found) is not private
