"""The index and its database for one command, with progress shown and failures put into words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from deploy.local.failure import StackFailure

if TYPE_CHECKING:
    from core.services.reindex import Rebuild

Show = Callable[[str, int, int], None]  # phase, done, total


@contextmanager
def rebuilding(*, embed: bool = False) -> Iterator[Rebuild]:
    """What `core.services.reindex` works with. Raises StackFailure for whatever stops the work."""
    from core.adapters.telemetry import SignalTelemetry, configure_logging
    from core.container import SettingsError, rebuild_parts
    from core.ports.database import DatabaseUnavailable
    from core.ports.index import IndexUnavailable
    from core.ports.models import ModelError
    from core.services.reindex import ReindexRefused
    from deploy.cli.configuration import database_url, load_settings

    database_url()  # joins the local stack
    telemetry = SignalTelemetry(configure_logging("warning", "console"))
    with progress() as show:
        try:
            parts = rebuild_parts(load_settings(), telemetry, lambda p: show(p.phase, p.done, p.total), embed=embed)
        except SettingsError as error:
            raise StackFailure(str(error), "Run `memlane settings` to see what is set.") from error
        try:
            yield parts
        except ReindexRefused as refused:
            raise StackFailure(str(refused)) from refused
        except (IndexUnavailable, ModelError, DatabaseUnavailable) as error:
            again = "What is done is kept: run the command again to go on. `memlane doctor` looks at every part."
            raise StackFailure(f"Stopped: {error}", again) from error
        finally:
            parts.database.close()  # type: ignore[attr-defined]


@contextmanager
def progress() -> Iterator[Show]:
    """A bar for people; a line now and then where the output is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description:<9}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)
        phase_said, said_at = "", 0.0

        def show(phase: str, done: int, total: int) -> None:
            nonlocal phase_said, said_at
            if total:
                bar.update(task, description=phase, completed=done, total=total)
            now = time.monotonic()
            if not console.is_terminal and (phase != phase_said or now - said_at > 5):
                phase_said, said_at = phase, now
                typer.echo(f"{phase}: {done} of {total}" if total else phase, err=True)

        yield show
