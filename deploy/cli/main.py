"""The console script `memlane`. One file per command; those import what is heavy inside their functions,

so that `memlane --help` answers at once.
"""

from __future__ import annotations

import sys

import typer

from deploy.cli import api, archive, beat, bench, doctor, events, flower, keys, migrate, reindex, settings, up, worker

app = typer.Typer(
    name="memlane",
    help="Memlane: a memory platform for AI agents, on your own machines.\n\n"
    "Start with `memlane up`: it runs everything on this machine and prints the addresses and where the API key is. "
    "Settings are environment variables; `memlane settings` lists them.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,  # logs want plain tracebacks
    add_completion=False,
)

_ONE_MACHINE = "On this machine"
_SERVICES = "Single processes (for servers and containers)"
_CARE = "Care"

app.command(rich_help_panel=_ONE_MACHINE)(up.up)
app.command(rich_help_panel=_SERVICES)(api.api)
app.command(rich_help_panel=_SERVICES)(worker.worker)
app.command(rich_help_panel=_SERVICES)(beat.beat)
app.command(rich_help_panel=_SERVICES)(flower.flower)
app.command(rich_help_panel=_SERVICES)(migrate.migrate)
app.command(rich_help_panel=_CARE)(settings.settings)
app.command(rich_help_panel=_CARE)(doctor.doctor)
app.command(rich_help_panel=_CARE)(reindex.reindex)
app.command(rich_help_panel=_CARE)(archive.export)
app.command("import", rich_help_panel=_CARE)(archive.import_)
app.command(rich_help_panel=_CARE, context_settings=bench.PASS_ON)(bench.bench)
app.add_typer(events.app, name="events", rich_help_panel=_CARE)
app.add_typer(keys.app, name="keys", rich_help_panel=_CARE)


def main() -> None:
    """Entry point of the console script."""
    from deploy.local.failure import StackFailure

    try:
        app()
    except StackFailure as failure:
        print(f"memlane: {failure.message}", file=sys.stderr)
        if failure.fix:
            print(failure.fix, file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
