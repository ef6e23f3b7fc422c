"""What the machine lacks is left out and told, or fails the run where MEMLANE_REQUIRE names it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.stack import clean_environment

SUITE = """
import pytest
from tests.machine import MachinePlugin

@pytest.mark.needs("qdrant")
def test_on_a_server(): assert False

def test_anywhere(): pass
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text(
        "from tests.machine import MachinePlugin\n"
        "def pytest_configure(config):\n"
        "    config.addinivalue_line('markers', 'needs(*names): …')\n"
        "    config.pluginmanager.register(MachinePlugin())\n"
    )
    (tmp_path / "test_it.py").write_text(SUITE)
    return tmp_path


def _run(suite: Path, **environment: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(suite)]
    blank = {"QDRANT_URL": "", "MEMLANE_REQUIRE": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=suite, capture_output=True, text=True, timeout=60, check=False,
        env=clean_environment(**(blank | environment)),
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_a_missing_server_is_told_at_the_end_and_nothing_fails(suite: Path) -> None:
    code, output = _run(suite)
    assert code == 0
    assert "NOT RUN: QDRANT_URL does not name a Qdrant server (1 test)" in output
    assert "1 passed, 1 deselected" in output


def test_what_is_required_and_missing_fails_before_anything_runs(suite: Path) -> None:
    code, output = _run(suite, MEMLANE_REQUIRE="qdrant")
    assert code != 0
    assert "MEMLANE_REQUIRE=qdrant, but: QDRANT_URL" in output
    assert "passed" not in output


def test_what_is_there_is_run(suite: Path) -> None:
    code, output = _run(suite, QDRANT_URL="http://127.0.0.1:6333")
    assert code == 1
    assert "1 failed, 1 passed" in output


def test_a_name_that_means_nothing_is_refused(suite: Path) -> None:
    code, output = _run(suite, MEMLANE_REQUIRE="rabitmq")
    assert code != 0
    assert "rabitmq is none of" in output


def test_requiring_what_no_test_needs_is_fine(suite: Path) -> None:
    (suite / "test_it.py").write_text("def test_anywhere(): pass\n")
    assert _run(suite, MEMLANE_REQUIRE="model")[0] == 0
