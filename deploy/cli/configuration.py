"""Settings for commands: from the environment, completed by a local stack that runs on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from deploy.local.failure import StackFailure

if TYPE_CHECKING:
    from core.adapters.sql.database import SqlDatabase
    from core.settings import Settings


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
    for name, value in state.environment.items():
        if name.startswith("MEMLANE_"):
            os.environ.setdefault(name, value)
    return True


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
