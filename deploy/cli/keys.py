"""`memlane keys`."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from deploy.cli.configuration import open_database
from deploy.cli.project_id import project_id
from deploy.local.failure import StackFailure

app = typer.Typer(help="Make, list and revoke API keys.", no_args_is_help=True)


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="What the key is for; also the new project's name.")],
    project: Annotated[
        UUID | None,
        typer.Option(parser=project_id, metavar="ID", help="An existing project; without it a new one is made."),
    ] = None,
    scopes: Annotated[str, typer.Option(help="Comma-separated, of read, write, admin.")] = "read,write,admin",
) -> None:
    """Make a key and print it. It is shown this once: only its hash is stored."""
    from core.services.issue_key import UnknownProject, issue_key

    wanted = [scope.strip() for scope in scopes.split(",") if scope.strip()]
    with open_database() as database:
        try:
            issued = issue_key(database, name, project_id=project, scopes=wanted)
        except UnknownProject as unknown:
            raise StackFailure(f"There is no project {unknown}.", "`memlane keys list` shows them.") from unknown
        except ValueError as invalid:
            raise StackFailure(f"--scopes: {invalid}.") from invalid
    typer.echo(f"Key {issued.id} of project {issued.project_id}:", err=True)
    typer.echo(issued.key)


@app.command("list")
def list_() -> None:
    """List all keys: which project, which scopes, last use. The keys themselves cannot be shown."""
    from rich.table import Table

    from core.domain.ids import project_wire_id
    from core.services.issue_key import list_keys
    from deploy.cli.printing import console

    with open_database() as database:
        rows = list_keys(database)
    project = ("Project", "Project id", "Its public id")
    table = Table("Id", "Begins with", "Name", *project, "Scopes", "Made", "Last used", "Revoked")
    for row in rows:
        times = [
            f"{when:%Y-%m-%d %H:%M}" if when else "" for when in (row.created_at, row.last_used_at, row.revoked_at)
        ]
        table.add_row(
            str(row.id),
            row.prefix,
            row.name,
            row.project,
            str(row.project_id),
            project_wire_id(row.project_id),
            ",".join(row.scopes),
            *times,
        )
    console().print(table)


@app.command()
def revoke(key: Annotated[str, typer.Argument(help="The key's id, or how it begins as `list` shows it.")]) -> None:
    """Revoke a key. Requests with it are refused from now on; there is no way back."""
    from core.services.issue_key import revoke_key

    with open_database() as database:
        matches = revoke_key(database, key)
    if matches != 1:
        problem = "No live key has" if matches == 0 else f"{matches} live keys have"
        raise StackFailure(f"{problem} this id or beginning.", "Use the id that `memlane keys list` shows.")
    typer.echo("Revoked.")
