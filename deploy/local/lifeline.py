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
from pathlib import Path

FD_VARIABLE = "MEMLANE_LIFELINE_FD"
GRACE = 25.0  # seconds between the polite signal and the end; workers hand their leases back within 20
_AUTOGROUP_TRIES, _AUTOGROUP_PAUSE = 20, 0.15


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


def lower_priority(nice: int, autogroup: Path = Path("/proc/self/autogroup")) -> None:
    """Niceness for this process, and for its session where Linux shares processor time between sessions first.

    With autogroups (sched(7)) a niceness counts among processes of one session alone; every part leads its own.
    """
    os.nice(nice)
    if os.getsid(0) != os.getpid():
        return  # the session of somebody else, who decides on it
    for _ in range(_AUTOGROUP_TRIES):
        try:
            autogroup.write_text(str(os.getpriority(os.PRIO_PROCESS, 0)))
        except BlockingIOError:
            time.sleep(_AUTOGROUP_PAUSE)  # the kernel takes one such change every 0.1 s
        except OSError:
            return  # no autogroups here
        else:
            return
    sys.stderr.write(f"{autogroup} takes no niceness: this process may keep others from their processor time\n")


def main(arguments: list[str]) -> None:
    fd = claim_fd()
    if fd is not None:
        threading.Thread(target=_end_with_launcher, args=(fd,), name="lifeline", daemon=True).start()
    if arguments[0] == "--nice":
        lower_priority(int(arguments[1]))
        arguments = arguments[2:]
    sys.argv = arguments
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
