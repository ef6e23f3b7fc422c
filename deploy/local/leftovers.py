"""What a killed launcher may have left: its children are ending by themselves; this waits for them, or ends them."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable
from pathlib import Path

from deploy.local.guard import end_servers
from deploy.local.processes import end
from deploy.local.stack_state import read_state

_PATIENCE = 10.0  # everything here survives a kill without loss, so a restart does not wait for long


def end_leftovers(home: Path, say: Callable[[str], None]) -> None:
    """Call with the folder lock held: no living launcher owns what the state file lists."""
    state = read_state(home)
    if state is None:
        end_servers(home, home / "postgres")
        return
    servers = ("postgres", "valkey", "guard")
    alive = {name: found for name, process in state.parts.items() if (found := process.find())}
    if alive:
        say(f"Ending what an earlier run left behind: {', '.join(sorted(alive))}")
    end([process for name, process in alive.items() if name not in servers], signal.SIGTERM, _PATIENCE)
    end_servers(home, Path(state.postgres_data) if state.postgres_data else None)
    end([process for name, process in alive.items() if name == "guard"], signal.SIGTERM, 2)
    if state.socket_folder and Path(state.socket_folder).name.startswith("memlane-"):
        shutil.rmtree(state.socket_folder, ignore_errors=True)
    state.remove()
