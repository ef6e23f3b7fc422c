"""Ends the servers that cannot watch the launcher's pipe themselves.

    python -m deploy.local.guard HOME POSTGRES_DATA

It waits for the end of the launcher and then ends PostgreSQL and Valkey, which it finds by their own pid
files. After an orderly stop it finds none.
"""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

from deploy.local.lifeline import claim_fd, wait_for_end

_STARTING = 0.5  # a server started an instant before the launcher died has not written its pid file yet


def end_servers(home: Path, postgres_data: Path | None) -> None:
    """Ends what runs on these folders, if anything does; both servers survive even a kill without loss."""
    from deploy.local.processes import end, server_of

    if postgres_data is not None:
        found = server_of(postgres_data / "postmaster.pid", str(postgres_data))
        end([found] if found else [], signal.SIGINT, 20)
    found = server_of(home / "valkey" / "valkey.pid", str(home / "valkey"))
    end([found] if found else [], signal.SIGTERM, 5)


def main(home: Path, postgres_data: Path | None) -> None:
    fd = claim_fd()
    if fd is None:
        raise SystemExit("deploy.local.guard is started by the launcher")
    wait_for_end(fd)
    end_servers(home, postgres_data)
    time.sleep(_STARTING)
    end_servers(home, postgres_data)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
