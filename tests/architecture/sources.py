"""The project's own files, as the architecture tests look at them."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("api", "workers", "core", "deploy")
_GENERATED = ("deploy/migrations/versions",)


def python_files(*packages: str) -> list[Path]:
    """Python files below the given folders (default: the four packages), without generated ones."""
    found = [path for package in packages or PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return [path for path in found if not path.relative_to(ROOT).as_posix().startswith(_GENERATED)]


def committed_files() -> list[Path]:
    """Every file under version control; outside a checkout, every file of the source tree's usual folders."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=30
    )
    if listed.returncode == 0 and listed.stdout:
        return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    return [path for folder in (*PACKAGES, "docs", "tests") for path in (ROOT / folder).rglob("*") if path.is_file()]
