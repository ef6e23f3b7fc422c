"""Processes whose clock is another than the machine's: libfaketime, loaded into that process alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from deploy.local.lifeline import FD_VARIABLE
from tests.chaos.cluster import Cluster, Part
from tests.machine import faketime_library


@dataclass(frozen=True)
class Skew:
    """`seconds` are added to what the process takes for the time of day; its monotonic clock is left alone."""

    place: Cluster
    seconds: int
    lifeline: int

    def part(self, name: str, command: list[str]) -> Part:
        """`command` is a Python module and its arguments. The process ends with the test, however that ends."""
        environment = {
            **self.place.environment,
            "LD_PRELOAD": str(faketime_library()),
            "FAKETIME": f"{self.seconds:+d}s",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            FD_VARIABLE: str(self.lifeline),
        }
        whole = [sys.executable, "-m", "deploy.local.lifeline", *command]
        options = {"pass_fds": (self.lifeline,)}
        made = Part(name, whole, environment, self.place.home / f"{name}.log", options)
        self.place.parts.append(made)
        return made


@contextmanager
def skewed(place: Cluster, seconds: int) -> Iterator[Skew]:
    lifeline, end = os.pipe()
    try:
        yield Skew(place, seconds, lifeline)
    finally:
        os.close(end)
        os.close(lifeline)
