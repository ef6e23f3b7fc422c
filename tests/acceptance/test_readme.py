"""The example of the README, word for word, against a running stack."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import TestProject

_README = Path(__file__).parents[2] / "README.md"
_LIMIT_SECONDS = 60.0


def test_the_first_example_remembers_and_answers(project: TestProject, tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", _README.read_text(encoding="utf-8"), re.DOTALL)
    here = example.replace("http://127.0.0.1:8765", project.url)
    assert here != example
    (tmp_path / ".memlane").mkdir()
    (tmp_path / ".memlane" / "api_key").write_text(project.key + "\n", encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-c", here],
        cwd=tmp_path,
        env=os.environ | {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(tmp_path / "mem0")},
        capture_output=True,
        text=True,
        timeout=_LIMIT_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    accepted, hit = ran.stdout.splitlines()
    assert "'status': 'PENDING'" in accepted
    score, memory = hit.split(" ", 1)
    assert 0.3 <= float(score) <= 1
    assert "Porto" in memory
