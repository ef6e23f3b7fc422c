"""One line of `memlane doctor`."""

from __future__ import annotations

from dataclasses import dataclass

TIMEOUT = 3.0  # seconds that one question to a dependency may take


@dataclass(frozen=True)
class Check:
    """`state`: ok, warn (works, with a remark), broken (required and not working), off (not configured)."""

    name: str
    state: str
    detail: str
    fix: str = ""


def first_line(error: Exception) -> str:
    """What an error says, in one line; its type where it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
