"""`make demo` does the whole job: events to their end, answers with scores, nothing left behind."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.stack import ROOT, clean_environment, short_home

CONVERSATION = (
    "user: I keep two llamas, Pico and Taco, on a farm near Cusco.\nassistant: Lovely.\nuser: 我每周五去游泳。\n"
)


def test_the_demo_remembers_and_finds_a_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text(CONVERSATION, encoding="utf-8")
    temporary = short_home()
    temporary.chmod(0o711)
    done = subprocess.run(
        [sys.executable, "-m", "deploy.local.demo", str(file)], cwd=ROOT, capture_output=True, text=True,
        timeout=180, check=False, env=clean_environment(TMPDIR=str(temporary)),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"session 1: 3 messages  PENDING → RUNNING after \d+ ms → SUCCEEDED after \d+ ms", done.stdout)
    assert re.search(r"\n  0\.\d\d  .*(llamas|游泳)", done.stdout)
    assert "Where the time went" in done.stdout
    assert list(temporary.iterdir()) == []
    temporary.rmdir()
