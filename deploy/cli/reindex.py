"""`memlane reindex`."""

from __future__ import annotations

from typing import Annotated

import typer


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
    from core.services.reindex import abandon
    from core.services.reindex import reindex as run
    from deploy.cli.rebuilding import rebuilding

    with rebuilding(embed=re_embed) as parts:
        if abort:
            said = "Given up." if abandon(parts) else "There was nothing to give up."
        else:
            said = f"The index is {run(parts)} now."
    typer.echo(said)
