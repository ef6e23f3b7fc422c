"""docker-compose.yaml as Compose reads it: merged, interpolated; and its processes on this machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from deploy.local.lifeline import FD_VARIABLE
from tests.stack import ROOT

FILE = ROOT / "docker-compose.yaml"
_VARIABLE = re.compile(r"\$(?:\$|\{(\w+)(?:(:-|:\?)([^}]*))?\})")
STOP_SECONDS = 30.0


class MissingVariable(Exception):
    """A `${NAME:?…}` that the environment does not hold."""


def read_compose(environment: Mapping[str, str]) -> dict[str, Any]:
    """The services, with `${…}` replaced from `environment` and `$$` by `$`. Raises MissingVariable."""
    document = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    services: dict[str, Any] = _interpolate(document["services"], environment)
    return services


def _interpolate(value: Any, environment: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _interpolate(item, environment) for key, item in value.items()}
    if isinstance(value, list):
        return [_interpolate(item, environment) for item in value]
    return _VARIABLE.sub(lambda match: _value(match, environment), value) if isinstance(value, str) else value


def _value(match: re.Match[str], environment: Mapping[str, str]) -> str:
    name, operator, rest = match.groups()
    if name is None:
        return "$"
    if environment.get(name):
        return environment[name]
    if operator == ":?":
        raise MissingVariable(name)
    return rest or ""


@dataclass
class Processes:
    """Runs services' commands here.

    `elsewhere` maps what only exists in containers (host names, ports) to this machine. Every process watches
    a pipe of ours, and ends when this process does.
    """

    services: Mapping[str, Any]
    elsewhere: Mapping[str, str]
    folder: Path
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _pipe: tuple[int, int] = field(default_factory=os.pipe)

    def run(self, name: str) -> int:
        """A service that ends by itself; its exit code."""
        return self._spawn(name).wait(timeout=120)

    def start(self, name: str) -> None:
        self.running[name] = self._spawn(name)

    def output(self, name: str) -> str:
        return self._log(name).read_text(errors="replace")

    def stop(self) -> dict[str, int]:
        """Exit codes after SIGTERM; a process that does not end in time is killed and told as -9."""
        for process in self.running.values():
            process.terminate()
        codes = {name: _wait(process) for name, process in self.running.items()}
        for end in self._pipe:
            os.close(end)
        return codes

    def _spawn(self, name: str) -> subprocess.Popen[bytes]:
        service = self.services[name]
        program, *arguments = [self.here(part) for part in service["command"]]
        assert program == "memlane"
        environment = {key: self.here(value) for key, value in service["environment"].items()}
        with self._log(name).open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "deploy.local.lifeline", "deploy.cli.main", *arguments],
                env=_without_settings() | environment | self._own(),
                cwd=self.folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                pass_fds=(self._pipe[0],), start_new_session=True,
            )  # fmt: skip

    def _own(self) -> dict[str, str]:
        """What the image sets, and the pipe."""
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        image = {"MEMLANE_HOME": str(self.folder), "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
        return image | {"PYTHONPATH": path, FD_VARIABLE: str(self._pipe[0])}

    def here(self, text: str) -> str:
        for there, here in self.elsewhere.items():
            text = text.replace(there, here)
        return text

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"


def _without_settings() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith(("MEMLANE_", "OPENAI_", "FLOWER_"))}


def _wait(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return -9
