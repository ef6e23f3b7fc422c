"""Each mechanism is missed by a test: with it taken out the named test fails, and with it in place it passes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.architecture.sources import ROOT, python_files
from tests.switches import SWITCHES, VARIABLE, switch_off

_SECONDS = 200
_PROOFS = sorted({switch.proof for switch in SWITCHES.values()})


def run(*tests: str, off: str = "") -> subprocess.CompletedProcess[str]:
    """Those tests in a pytest of their own."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return subprocess.run(
        [sys.executable, "-m", "pytest", *tests],
        cwd=ROOT,
        env={**os.environ, VARIABLE: off, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )


@pytest.mark.long
@pytest.mark.chaos
def test_the_named_tests_pass_with_every_mechanism_in_place() -> None:
    done = run(*_PROOFS)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.long
@pytest.mark.chaos
@pytest.mark.parametrize("name", SWITCHES)
def test_without_the_mechanism_its_test_fails(name: str) -> None:
    switch = SWITCHES[name]
    done = run(switch.proof, off=name)
    assert done.returncode == 1, done.stdout[-3000:] + done.stderr[-1000:]
    assert f"FAILED {switch.proof}" in done.stdout
    assert switch.told in done.stdout, done.stdout[-3000:]


def test_a_switch_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="names no mechanism"):
        switch_off("everything")


def test_every_switch_finds_what_it_takes_out() -> None:
    """All in one process: a statement that was written anew shows here, and not only in the long form."""
    script = "from tests.switches import SWITCHES\nfor switch in SWITCHES.values(): switch.off()"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_what_is_shipped_knows_no_switch() -> None:
    assert [path for path in python_files() if VARIABLE in path.read_text()] == []


def test_the_page_of_guarantees_names_every_switch_and_its_test() -> None:
    page = (ROOT / "docs" / "guarantees.md").read_text()
    missing = [
        name for name, switch in SWITCHES.items() if f"`{name}`" not in page or _short(switch.proof) not in page
    ]
    assert missing == []


def _short(proof: str) -> str:
    return proof.split("::")[1]
