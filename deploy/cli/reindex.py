"""`memlane reindex`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from deploy.local.failure import StackFailure

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.ports.runtime import Telemetry
    from core.services.reindex import Progress


def reindex(
    re_embed: Annotated[
        bool, typer.Option("--re-embed", help="Make all vectors anew with the embedder that is configured now.")
    ] = False,
    abort: Annotated[
        bool, typer.Option("--abort", help="Give up a rebuild that was stopped, and drop what it has built.")
    ] = False,
) -> None:
    """Build the vector index anew from PostgreSQL, while adds and searches go on. No model is asked.

    The new index is switched to at once when it is complete, and the old one dropped. A run that was stopped or
    killed goes on where it was when the command is run again. With --re-embed it moves to another embedding model:
    set MEMLANE_EMBEDDER_… for this command; processes with the old model serve until the switch, those with the new
    one from the switch on.
    """
    from core.container import SettingsError, rebuild_parts
    from core.ports.database import DatabaseUnavailable
    from core.ports.index import IndexUnavailable
    from core.ports.models import ModelError
    from core.services.reindex import ReindexRefused, abandon
    from core.services.reindex import reindex as run
    from deploy.cli.configuration import database_url, load_settings

    database_url()  # joins the local stack
    with _telling() as (tell, telemetry):
        try:
            parts = rebuild_parts(load_settings(), telemetry, tell, embed=re_embed)
        except SettingsError as error:
            raise StackFailure(str(error), "Run `memlane settings` to see what is set.") from error
        try:
            if abort:
                said = "Given up." if abandon(parts) else "There was nothing to give up."
            else:
                said = f"The index is {run(parts)} now."
        except ReindexRefused as refused:
            raise StackFailure(str(refused)) from refused
        except (IndexUnavailable, ModelError, DatabaseUnavailable) as error:
            again = "What is done is kept: run the command again to go on. `memlane doctor` looks at every part."
            raise StackFailure(f"Stopped: {error}", again) from error
        finally:
            parts.database.close()  # type: ignore[attr-defined]
    typer.echo(said)


@contextmanager
def _telling() -> Iterator[tuple[Callable[[Progress], None], Telemetry]]:
    """A bar for people; lines now and then where the output is no terminal."""
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    from core.adapters.telemetry import SignalTelemetry, configure_logging

    telemetry = SignalTelemetry(configure_logging("warning", "console"))
    console = Console(stderr=True)
    columns = (TextColumn("{task.description:<9}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("copy", total=None)
        phase, said_at = "", 0.0

        def tell(progress: Progress) -> None:
            nonlocal phase, said_at
            if progress.total:
                bar.update(task, description=progress.phase, completed=progress.done, total=progress.total)
            now = time.monotonic()
            if not console.is_terminal and (progress.phase != phase or now - said_at > 5):
                phase, said_at = progress.phase, now
                typer.echo(f"{progress.phase}: {progress.done} of {progress.total}", err=True)

        yield tell, telemetry
