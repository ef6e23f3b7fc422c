"""Processes by identity: a pid alone may be somebody else's by now, a pid with its start time may not."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True)
class ProcessId:
    """`started` in seconds since the epoch, as the kernel tells it."""

    pid: int
    started: float

    @classmethod
    def of(cls, pid: int) -> ProcessId | None:
        try:
            return cls(pid, psutil.Process(pid).create_time())
        except psutil.NoSuchProcess:
            return None

    def find(self) -> psutil.Process | None:
        """The process, where it still is the same one and not a zombie."""
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.started) < 1.0
            return process if same and process.status() != psutil.STATUS_ZOMBIE else None
        except psutil.NoSuchProcess:
            return None

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


def server_of(pid_file: Path, mark: str) -> psutil.Process | None:
    """The process named by the first line of a server's pid file, where its command line holds `mark`."""
    try:
        pid = int(pid_file.read_text().split("\n", 1)[0])
        process = psutil.Process(pid)
        return process if any(mark in part for part in process.cmdline()) else None
    except (FileNotFoundError, ValueError, psutil.NoSuchProcess, psutil.ZombieProcess):
        return None


def end(processes: Iterable[psutil.Process], polite: signal.Signals, patience: float) -> None:
    """Signals all, waits `patience` seconds for all together, then kills the rest and waits for that."""
    waiting = list(processes)
    for process in waiting:
        _signal(process, polite)
    _, alive = psutil.wait_procs(waiting, timeout=patience)
    for process in alive:
        _signal(process, signal.SIGKILL)
    psutil.wait_procs(alive, timeout=10)


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return  # it went by itself
