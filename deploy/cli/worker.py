"""`memlane worker`."""

from __future__ import annotations

import os
import socket
import warnings
from typing import Annotated

import typer


def worker(
    queues: Annotated[str, typer.Option(help="ingest, or webhooks,upkeep: a worker for each.")] = "ingest",
    name: Annotated[str, typer.Option(help="Name of this worker, unique on its host.")] = "worker",
    concurrency: Annotated[int | None, typer.Option(help="Threads [MEMLANE_WORKER_CONCURRENCY].")] = None,
) -> None:
    """Run a Celery worker: it turns accepted adds into memories (ingest), or delivers webhooks and does upkeep.

    Any number may run, on any host that reaches the database, the broker and the index. On SIGTERM it takes no new
    work, hands back what it holds within 20 seconds, and ends.
    """
    from deploy.cli.configuration import load_settings

    kind = _kind(queues)
    threads = concurrency or load_settings().worker_concurrency
    # Read by workers.app when it is imported.
    os.environ["MEMLANE_WORKER_CONCURRENCY"] = str(threads)
    os.environ["MEMLANE_WORKER_KIND"] = kind
    from workers.app import app

    # The pool's threads share one process, so that the models are in memory once. Remote control stays on: without
    # it a worker freezes when its broker dies.
    warnings.filterwarnings("ignore", message="(?s).*superuser privileges")  # JSON alone is accepted, never pickle
    app.worker_main(
        [
            "--quiet",
            "worker",
            "--pool=threads",
            f"--concurrency={threads}",
            f"--queues={queues}",
            f"--hostname={name}@{socket.gethostname()}",
            "--loglevel=WARNING",
            "--without-gossip",
            "--without-mingle",
        ]
    )


def _kind(queues: str) -> str:
    """What the process is there for. Raises typer.BadParameter for queues that there are not, or not in one process:
    long extractions would hold up deliveries."""
    asked = set(queues.split(","))
    if asked == {"ingest"}:
        return "ingest"
    if asked and asked <= {"webhooks", "upkeep"}:
        return "webhooks"
    raise typer.BadParameter(
        f"{queues!r}: a worker takes ingest, or webhooks,upkeep. Start one for each.", param_hint="--queues"
    )
