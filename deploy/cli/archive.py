"""`memlane export` and `memlane import`."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, cast
from uuid import UUID

import typer

from deploy.cli.configuration import load_settings, open_database
from deploy.cli.project_id import project_id
from deploy.local.failure import StackFailure

if TYPE_CHECKING:
    from core.ports.secrets import SecretBox

_GZIP = b"\x1f\x8b"


def export(
    project: Annotated[
        UUID, typer.Option(parser=project_id, metavar="ID", help="The project's id; `memlane keys list` shows it.")
    ],
    output: Annotated[Path, typer.Argument(help="A new file; with .gz at its end compressed. `-`: standard output.")],
) -> None:
    """Write all of a project into one archive: memories with their vectors, history, entities, events, settings.

    As of one moment, while work goes on. The file holds everything that was said: keep it as you keep the database.
    Open events, keys, secrets and the log of deliveries are not in it.
    """
    from core.domain.archive import ArchiveRefused
    from core.services.archive import export_project

    with open_database() as database, _written(output) as file:
        try:
            header = export_project(database, project, file.write)
        except ArchiveRefused as refused:
            raise StackFailure(str(refused), "`memlane keys list` shows the projects.") from refused
    typer.echo(f"Project {project} is in {output}.", err=True)
    if header.open_events:
        typer.echo(f"{header.open_events} open events are not in it: export again when they have ended.", err=True)


def import_(
    archive: Annotated[Path, typer.Argument(help="An archive of `memlane export`. `-`: standard input.")],
    project: Annotated[
        UUID | None,
        typer.Option(
            parser=project_id,
            metavar="ID",
            help="An existing project to import into; without it the archive gets its own.",
        ),
    ] = None,
) -> None:
    """Store a project's archive: into a project of its own, which is made, or into an empty one.

    Stopped or killed it is finished by running it again; what is there already is left alone. The archive must be of
    this version's schema and of the embedder in use here. The workers index the memories meanwhile.
    """
    from core.domain.archive import ArchiveRefused
    from core.services.archive import import_project
    from deploy.cli.rebuilding import progress

    with open_database() as database, _read(archive) as lines, progress() as show:
        try:
            done = import_project(
                database,
                lines,
                collection=load_settings().collection,
                project_id=project,
                box=_box(),
                tell=lambda rows: show("rows", rows, 0),
            )
        except ArchiveRefused as refused:
            raise StackFailure(str(refused)) from refused
    typer.echo(f"Project {done.project_id}: {done.rows} rows, {done.new} of them new.")
    if done.webhooks_skipped:
        typer.echo(f"{done.webhooks_skipped} webhooks were left out: this server has no MEMLANE_SECRET_KEY.")
    typer.echo(f"A key for it: memlane keys create NAME --project {done.project_id}")


def _box() -> SecretBox | None:
    from core.adapters.secret_box import FernetBox

    key = load_settings().secret_key
    return FernetBox(key.get_secret_value()) if key is not None else None


@contextmanager
def _written(path: Path) -> Iterator[IO[bytes]]:
    """The file appears when it is complete; its mode is 600."""
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if path.exists():
        raise StackFailure(f"{path} exists already.", "Name another file, or remove it first.")
    aside = path.with_name(path.name + ".part")
    try:
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as raw:
            if path.suffix == ".gz":
                with gzip.open(raw, "wb") as packed:
                    yield packed  # type: ignore[misc]
            else:
                yield raw
        aside.replace(path)
    except OSError as error:
        raise StackFailure(f"{path}: {error.strerror or error}") from error
    finally:
        aside.unlink(missing_ok=True)


def _opened(path: Path) -> io.BufferedReader:
    if str(path) == "-":
        return cast(io.BufferedReader, sys.stdin.buffer)
    return path.open("rb")


@contextmanager
def _read(path: Path) -> Iterator[Iterator[bytes]]:
    """Lines of the file or of standard input; what gzip packed is told by its first two bytes, whatever its name."""
    try:
        with _opened(path) as raw:
            yield iter(gzip.GzipFile(fileobj=raw) if raw.peek(2)[:2] == _GZIP else raw)
    except (OSError, EOFError, zlib.error) as error:
        raise StackFailure(f"{path}: {getattr(error, 'strerror', None) or error}") from error
