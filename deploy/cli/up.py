"""`memlane up`."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from deploy.local.stack_state import StackState


def up() -> None:
    """Run everything on this machine, in the foreground, until Ctrl-C.

    PostgreSQL, the broker, the vector engine, the API, the workers and Flower start as child processes. Data is kept
    in MEMLANE_HOME (`./.memlane`) and is there again at the next start. Services of your own are used instead where
    MEMLANE_DATABASE_URL, MEMLANE_BROKER_URL or MEMLANE_QDRANT_URL say so.
    """
    from rich.console import Console

    from deploy.cli.configuration import load_settings
    from deploy.local.launcher import run_stack
    from deploy.local.variables import unknown_variables

    console = Console(highlight=False, soft_wrap=True)
    began = time.monotonic()
    settings = load_settings()
    for name in unknown_variables(os.environ):
        typer.echo(f"{name} is not a setting (is it misspelt?); `memlane settings` lists them.", err=True)
    console.print(f"Starting Memlane in {settings.home.expanduser().absolute()} …", markup=False)

    def announce(state: StackState) -> None:
        for line in _addresses(state, time.monotonic() - began):
            console.print(line, markup=False)

    try:
        run_stack(settings, lambda line: console.print(line, markup=False), announce)
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    console.print("Stopped.")


def _addresses(state: StackState, seconds: float) -> list[str]:
    from deploy.local.readiness import get

    lines = [
        f"Ready after {seconds:.1f} s.",
        f"  API      {state.api_url}   key in {state.home}/api_key",
        f"  Docs     {state.api_url}/docs",
    ]
    if get(f"{state.api_url}/console/")[0] == 200:
        lines.append(f"  Console  {state.api_url}/console/")
    if state.flower_url:
        lines.append(f"  Flower   {state.flower_url}   user memlane, password in {state.home}/flower_password")
    return [*lines, f"  Logs     {state.home}/logs", "Stop with Ctrl-C."]
