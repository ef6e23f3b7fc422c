"""What `memlane bench` prints, and how: progress and complaints to stderr, the report to stdout."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from deploy.bench.client import BenchError
from deploy.bench.report import Report

_FILE_WIDTH = 160  # of tables that go to a file or a pipe

errors = Console(stderr=True)


def progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=errors)


def tell(report: Report, markdown: bool, json: Path | None, details: dict[str, Any]) -> None:
    if markdown:
        sys.stdout.write(report.markdown() + "\n")
    else:
        report.print(Console(width=None if sys.stdout.isatty() else _FILE_WIDTH))
    if json is not None:
        report.save(json, details)


def typed_command() -> str:
    """The command as it was typed, without keys and with the file's name only."""
    words = []
    hidden = False
    for word in sys.argv[1:]:
        if hidden or word.startswith("--api-key="):
            hidden = False
            continue
        if word == "--api-key":
            hidden = True
            continue
        words.append(Path(word).name if "/" in word and not word.startswith("http") else word)
    return " ".join(["memlane", *(["bench"] if "bench" not in words else []), *words])


@contextmanager
def told_errors() -> Iterator[None]:
    """What cannot be measured ends with a sentence and exit code 1, not with a traceback.

    SIGTERM unwinds like Ctrl-C does, so that the temporary stack is stopped and its folder removed.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        yield
    except BenchError as error:
        errors.print(f"[red]error:[/red] {error}", highlight=False)
        raise typer.Exit(1) from error
