"""Settings for commands: from the environment, completed by a local stack that runs on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deploy.local.failure import StackFailure

if TYPE_CHECKING:
    from core.adapters.sql.database import SqlDatabase
    from core.settings import Settings
    from deploy.local.stack_state import StackState

# Where a stack keeps its data, when that was given to it; models are each command's own (`reindex --re-embed`).
_SERVICES = {
    "MEMLANE_DATABASE_URL",
    "MEMLANE_BROKER_URL",
    "MEMLANE_REDIS_URL",
    "MEMLANE_QDRANT_URL",
    "MEMLANE_QDRANT_API_KEY",
    "MEMLANE_COLLECTION",
}


def load_settings() -> Settings:
    """Raises StackFailure naming each variable that is wrong."""
    from pydantic import ValidationError

    from core.settings import Settings

    try:
        return Settings.model_validate({})
    except ValidationError as invalid:
        lines = [f"  {_variable(error['loc'])}: {error['msg']}" for error in invalid.errors()]
        raise StackFailure(
            "These settings are not valid:\n" + "\n".join(lines), "See docs/configuration.md."
        ) from None


def join_local_stack() -> bool:
    """Takes the addresses of the running local stack into this process's environment, where none are set.

    False when no stack runs in MEMLANE_HOME. A database that is named explicitly is never replaced.
    """
    from deploy.local.stack_state import running_state

    if os.environ.get("MEMLANE_DATABASE_URL"):
        return False
    state = running_state(load_settings().home.expanduser().absolute())
    if state is None:
        return False
    given = {name: value for name, value in state.given.items() if name in _SERVICES}
    for name, value in {**given, **state.environment}.items():
        if name.startswith("MEMLANE_"):
            os.environ.setdefault(name, value)
    return True


@dataclass(frozen=True)
class RunningStack:
    """What was found in MEMLANE_HOME. `line` tells a person; `joined`: the settings in force are now the stack's."""

    state: StackState | None
    joined: bool
    line: str


def take_running_stack() -> RunningStack:
    """Makes this process's environment say what the running local stack was told, for commands that describe it.

    The stack's values hold: what this shell has set otherwise is named in `line`, and dropped. Only a database of
    this shell that is not the stack's means that something else is looked at, and then nothing is changed.
    """
    from deploy.local.stack_state import running_state
    from deploy.local.variables import setting_names

    state = running_state(load_settings().home.expanduser().absolute())
    if state is None:
        return RunningStack(None, False, "Local stack: not running")
    line = f"Local stack: running in {state.home}"
    told = state.told()
    mine = os.environ.get("MEMLANE_DATABASE_URL")
    if mine and _address(mine) != _address(told.get("MEMLANE_DATABASE_URL", "")):
        return RunningStack(state, False, f"{line}, not looked at: MEMLANE_DATABASE_URL names another database.")
    here = {name: value for name, value in os.environ.items() if name.upper() in setting_names()}
    same = {name: {told.get(name), state.given.get(name), ""} for name in here}
    other = sorted(name for name, value in here.items() if name != "MEMLANE_HOME" and value not in same[name])
    for name in here:
        del os.environ[name]
    os.environ.update(told)
    note = f"; what this shell sets otherwise does not hold: {', '.join(other)}" if other else ""
    return RunningStack(state, True, f"{line}. The settings are those of the running stack{note}.")


def _address(url: str) -> str:
    return url.partition("://")[2]


def database_url() -> str:
    """The database of the environment or of the running local stack. Raises StackFailure when there is neither."""
    join_local_stack()
    url = load_settings().database_url
    if url is None:
        raise StackFailure(
            "No database: MEMLANE_DATABASE_URL is not set and no local stack runs in MEMLANE_HOME.",
            "Start one with `memlane up`, or set MEMLANE_DATABASE_URL.",
        )
    return url.get_secret_value()


@contextmanager
def open_database() -> Iterator[SqlDatabase]:
    """The database of `database_url`, for one command. Raises StackFailure when it cannot be reached."""
    from core.adapters.sql.database import SqlDatabase
    from core.ports.database import DatabaseUnavailable

    database = SqlDatabase(database_url())
    try:
        yield database
    except DatabaseUnavailable as down:
        raise StackFailure(f"The database cannot be reached: {down}", "Run `memlane doctor`.") from down
    finally:
        database.close()


def broker_url() -> str:
    """The broker of the environment or of the running local stack. Raises StackFailure when there is neither."""
    join_local_stack()
    url = load_settings().broker_url
    if url is None:
        raise StackFailure(
            "No broker: MEMLANE_BROKER_URL is not set and no local stack runs in MEMLANE_HOME.",
            "Start one with `memlane up`, or set MEMLANE_BROKER_URL.",
        )
    return url.get_secret_value()


def _variable(location: tuple[int | str, ...]) -> str:
    name = str(location[0]) if location else ""
    return name if name.isupper() else f"MEMLANE_{name.upper()}"
