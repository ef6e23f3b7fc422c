"""`memlane doctor`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from deploy.cli.check import Check

_SIGNS = {"ok": "ok     ", "warn": "note   ", "broken": "BROKEN ", "off": "–      "}


def doctor(
    deep: Annotated[bool, typer.Option("--deep", help="Also compare the index with the database.")] = False,
    sample: Annotated[
        int | None, typer.Option(min=1, help="With --deep: so many memories at random instead of all.")
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="With --deep: have what is wrong in the index repaired.")
    ] = False,
    compact: Annotated[
        bool,
        typer.Option(
            "--compact", help="Take what was deleted or erased off the disk. Adds and searches wait meanwhile."
        ),
    ] = False,
) -> None:
    """Check every dependency: is it reachable, which version, what to do. Exit code 1 when a required one is broken.

    It looks at the running local stack of MEMLANE_HOME, or at the services that MEMLANE_… variables name.
    """
    from deploy.cli.checks import all_checks
    from deploy.cli.compact import compact as compacting
    from deploy.cli.configuration import load_settings, take_running_stack
    from deploy.cli.deep import deep_checks
    from deploy.local.failure import StackFailure

    if (sample is not None or fix) and not deep:
        raise StackFailure("--sample and --fix go with --deep.")
    stack = take_running_stack()
    typer.echo(stack.line)
    broken = _tell(all_checks(load_settings(), stack.state if stack.joined else None))
    if deep:
        drifted = _tell(deep_checks(sample=sample, fix=fix))
        broken += 0 if fix else drifted
    if compact:
        broken += _tell(compacting())
    if broken:
        raise SystemExit(1)


def _tell(checks: Iterable[Check]) -> int:
    """Prints each check when it is done; returns how many are broken."""
    from rich.console import Console

    console = Console(soft_wrap=True, highlight=False)
    broken = 0
    for result in checks:
        console.print(f"{_SIGNS[result.state]} {result.name:<12} {result.detail}", markup=False)
        if result.fix and result.state != "ok":
            console.print(f"{'':21}{result.fix}", markup=False)
        broken += result.state == "broken"
    return broken
