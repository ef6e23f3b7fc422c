"""Tables for people and for pipes: a terminal wraps them to its width, a file or a pipe gets whole lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_PIPE_WIDTH = 300


def console() -> Console:
    from rich.console import Console

    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=_PIPE_WIDTH)
