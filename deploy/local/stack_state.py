"""`$MEMLANE_HOME/stack.json` (mode 0600): what runs, where, with which secrets. Written by the launcher alone.

Read by the next launcher (leftovers of a killed one), by commands beside the stack (`memlane keys`, `doctor`,
`settings`), and by tests.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from deploy.local.processes import ProcessId
from deploy.local.secret_files import write_private

FILE_NAME = "stack.json"


@dataclass
class StackState:
    """`environment`: what each child got beyond the launcher's own environment; `given`: what that held of ours."""

    home: str
    api_url: str
    launcher: ProcessId | None
    ready: bool = False
    flower_url: str | None = None
    postgres_data: str | None = None
    socket_folder: str | None = None
    environment: dict[str, str] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    parts: dict[str, ProcessId] = field(default_factory=dict)
    restarts: dict[str, int] = field(default_factory=dict)

    def told(self) -> dict[str, str]:
        """The variables of ours that are in force for every part."""
        added = {name: value for name, value in self.environment.items() if name.startswith("MEMLANE_")}
        given = {name: value for name, value in self.given.items() if name.upper() not in added}
        return given | added

    def write(self) -> None:
        write_private(Path(self.home) / FILE_NAME, json.dumps(asdict(self), indent=2) + "\n")

    def remove(self) -> None:
        (Path(self.home) / FILE_NAME).unlink(missing_ok=True)


def read_state(home: Path) -> StackState | None:
    """None where no stack was started, or where its file is not readable as one."""
    try:
        found: dict[str, Any] = json.loads((home / FILE_NAME).read_text())
        launcher = found.pop("launcher")
        parts = {name: ProcessId(**value) for name, value in found.pop("parts").items()}
        return StackState(launcher=ProcessId(**launcher) if launcher else None, parts=parts, **found)
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def running_state(home: Path) -> StackState | None:
    """The state of a stack whose launcher is alive."""
    state = read_state(home)
    return state if state and state.launcher and state.launcher.find() else None
