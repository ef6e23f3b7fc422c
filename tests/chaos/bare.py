"""Worker processes without Celery: claims and sweeps as in a real one, and up in a fraction of a second.

They are forked from a server that has imported everything, so a test can afford to lose several of them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.context import ForkServerContext, ForkServerProcess

from workers.process import start

_FORKS = ForkServerContext()
_FORKS.set_forkserver_preload([__name__, "core.adapters.celery_queue", "tests.doubles.poison"])
SLOTS = 4


@dataclass
class BareWorker:
    """Started again with the same environment as often as it dies."""

    environment: Mapping[str, str]
    process: ForkServerProcess | None = None

    def start(self) -> None:
        self.process = _FORKS.Process(target=_work, args=(dict(self.environment),), daemon=True)
        self.process.start()

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.is_alive()

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join(20)


def _work(environment: dict[str, str]) -> None:
    os.environ.update(environment)
    start("ingest", SLOTS).worker.stopping.wait()
