"""`memlane beat`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def beat(
    schedule: Annotated[
        Path | None, typer.Option(help="File for the times of the last runs [$MEMLANE_HOME/beat-schedule].")
    ] = None,
) -> None:
    """Run the scheduler of upkeep: retention, and patterns where projects want them. Run one; adds need none."""
    from core.adapters.celery_app import celery_app
    from deploy.cli.configuration import broker_url, load_settings
    from workers.schedule import SCHEDULE

    file = schedule or load_settings().home.expanduser() / "beat-schedule"
    file.parent.mkdir(parents=True, exist_ok=True)
    app = celery_app(broker_url(), producer=False)
    app.conf.beat_schedule = SCHEDULE
    app.start(["--quiet", "beat", f"--schedule={file}", "--pidfile=", "--loglevel=WARNING"])
