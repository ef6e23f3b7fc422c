"""What `memlane up` says before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from deploy.cli.main import app
from deploy.local import launcher


def test_a_misspelt_variable_is_named_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(launcher, "run_stack", lambda *_: None)
    monkeypatch.setenv("MEMLANE_HOME", str(tmp_path))
    monkeypatch.setenv("MEMLANE_WORKER", "2")
    told = CliRunner().invoke(app, ["up"])
    assert told.exit_code == 0, told.output
    assert told.stderr.count("MEMLANE_WORKER is not a setting") == 1
    assert "not a setting" not in told.stdout
