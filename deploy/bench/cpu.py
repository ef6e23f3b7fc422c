"""Processor time that groups of processes use: a cost that does not depend on what else the machine is doing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import psutil


def cpu_seconds(pids: Iterable[int]) -> float:
    """User and system time of these processes and of all their descendants, also of those that have ended."""
    return sum(_tree_seconds(pid) for pid in pids)


def _tree_seconds(pid: int) -> float:
    try:
        root = psutil.Process(pid)
        return sum(_seconds(process) for process in [root, *root.children(recursive=True)])
    except psutil.NoSuchProcess:
        return 0.0


def _seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)


class CpuUse:
    """Processor seconds of named groups between its making and `seconds()`."""

    def __init__(self, groups: Mapping[str, list[int]]) -> None:
        self._groups = dict(groups)
        self._before = {name: cpu_seconds(pids) for name, pids in groups.items()}

    def seconds(self) -> dict[str, float]:
        return {name: cpu_seconds(pids) - self._before[name] for name, pids in self._groups.items()}
