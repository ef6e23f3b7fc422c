"""`memlane …` as a person types it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

from tests.stack import ROOT, clean_environment

Command = Callable[..., Result]


def memlane(*arguments: str, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "deploy.cli.main", *arguments], cwd=ROOT, capture_output=True, text=True,
        timeout=60, check=False, env=clean_environment(MEMLANE_HOME=str(home), **environment),
    )  # fmt: skip
