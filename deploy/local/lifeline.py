"""Runs a Python module as a child of the launcher that ends when the launcher does, however that ends.

    python -m deploy.local.lifeline [--nice N] MODULE ARGUMENTS...

The launcher keeps the writing end of a pipe; a read here returns only when that end is closed, by
whatever death. PostgreSQL and Valkey cannot watch a pipe themselves: `deploy.local.guard` ends those.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time

FD_VARIABLE = "MEMLANE_LIFELINE_FD"
GRACE = 25.0  # seconds between the polite signal and the end; workers hand their leases back within 20


def wait_for_end(fd: int) -> None:
    """Returns when the launcher is gone."""
    while os.read(fd, 1):
        pass


def claim_fd() -> int | None:
    """The pipe's reading end, kept from this process's own children; None outside the launcher."""
    value = os.environ.pop(FD_VARIABLE, None)
    if value is None:
        return None
    os.set_inheritable(int(value), False)
    return int(value)


def _end_with_launcher(fd: int) -> None:
    wait_for_end(fd)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(70)  # the polite way did not work in time


def main(arguments: list[str]) -> None:
    fd = claim_fd()
    if fd is not None:
        threading.Thread(target=_end_with_launcher, args=(fd,), name="lifeline", daemon=True).start()
    if arguments[0] == "--nice":
        os.nice(int(arguments[1]))
        arguments = arguments[2:]
    sys.argv = arguments
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
