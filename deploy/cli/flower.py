"""`memlane flower`."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from deploy.local.failure import StackFailure


def flower(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(help="Port to listen on [MEMLANE_FLOWER_PORT].")] = None,
) -> None:
    """Serve Flower, the broker's view of workers and tasks: read-only, behind a password (user memlane)."""
    os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)  # Flower's own metrics stay out of Memlane's
    from core.adapters.celery_app import celery_app
    from deploy.cli.configuration import broker_url, load_settings

    settings = load_settings()
    if settings.flower_password is None:
        raise StackFailure("Flower needs a password.", "Set MEMLANE_FLOWER_PASSWORD.")
    # By the environment, since a command line can be read by every user of the machine.
    os.environ["FLOWER_BASIC_AUTH"] = f"memlane:{settings.flower_password.get_secret_value()}"
    options = {
        "address": host,
        "port": port or settings.flower_port,
        "read_only": True,
        "persistent": False,
        "max_tasks": 5000,
        "logging": "warning",
    }
    app = celery_app(broker_url(), producer=False)
    app.start(["flower", *(f"--{name}={value}" for name, value in options.items())])
