"""`memlane bench`: handed on as it was typed, so that its imports cost only those who measure."""

from __future__ import annotations

import typer

PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def bench(context: typer.Context) -> None:
    """Measure a running Memlane, or a temporary local stack: locomo, ack, drain, search; or a chat model: extract."""
    from deploy.bench.cli import app

    app(args=context.args, prog_name="memlane bench")
