"""What this machine lacks: said at the end of every run, and a failure where MEMLANE_REQUIRE names it."""

from __future__ import annotations

import os

import pytest

_lacking: dict[str, str] = {}


def lacking(name: str, reason: str) -> None:
    """Tests of `name` (qdrant, node, rabbitmq, …) are left out of this run, for `reason`."""
    _lacking[name] = reason


def required() -> set[str]:
    return {name.strip() for name in os.environ.get("MEMLANE_REQUIRE", "").split(",") if name.strip()}


def fail_if_required() -> None:
    """Raises pytest.UsageError when something that must be there is not."""
    missing = sorted(required() & _lacking.keys())
    if missing:
        raise pytest.UsageError("; ".join(f"MEMLANE_REQUIRE={name}: {_lacking[name]}" for name in missing))


def report(reporter: pytest.TerminalReporter) -> None:
    if _lacking:
        reporter.section("not run")
        for name, reason in sorted(_lacking.items()):
            reporter.line(f"NOT RUN {name}: {reason}")
