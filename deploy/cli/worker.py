"""`memlane worker`."""

from __future__ import annotations

import os
import socket
import warnings
from typing import Annotated

import typer


def worker(
    queues: Annotated[
        str, typer.Option(help="Comma-separated: ingest, webhooks, upkeep.")
    ] = "ingest,webhooks,upkeep",
    name: Annotated[str, typer.Option(help="Name of this worker, unique on its host.")] = "worker",
    concurrency: Annotated[int | None, typer.Option(help="Threads [MEMLANE_WORKER_CONCURRENCY].")] = None,
) -> None:
    """Run a Celery worker: it turns accepted adds into memories, delivers webhooks, does upkeep.

    Any number may run, on any host that reaches the database, the broker and the index. On SIGTERM it takes no new
    work, hands back what it holds within 20 seconds, and ends.
    """
    from deploy.cli.configuration import load_settings

    threads = concurrency or load_settings().worker_concurrency
    # Read by workers.app when it is imported.
    os.environ["MEMLANE_WORKER_CONCURRENCY"] = str(threads)
    os.environ["MEMLANE_WORKER_KIND"] = "ingest" if "ingest" in queues.split(",") else "webhooks"
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
