"""Environment variables that are ours: the settings, and what is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from core.settings import Settings
from deploy.local.lifeline import FD_VARIABLE

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

PREFIX = "MEMLANE_"
# Of the launcher, the workers, the tests and the clients: ours, and no settings of the server.
_NO_SETTINGS = {FD_VARIABLE, "MEMLANE_REQUIRE", "MEMLANE_URL", "MEMLANE_WORKER_KIND"}


def names_of(name: str, field: FieldInfo) -> list[str]:
    """The environment variables of a setting, the first one winning."""
    choices = getattr(field.validation_alias, "choices", None)
    return [str(choice) for choice in choices] if choices else [f"{PREFIX}{name.upper()}"]


def setting_names() -> set[str]:
    """All variables that settings are read from, in capitals; how a variable is written makes no difference."""
    return {each for name, field in Settings.model_fields.items() for each in names_of(name, field)}


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """MEMLANE_… variables that are no settings."""
    known = setting_names() | _NO_SETTINGS
    return sorted(name for name in environment if name.startswith(PREFIX) and name not in known)


def given_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The settings that an environment holds, and what was meant for one; empty variables count as not set."""
    ours = setting_names() | set(unknown_variables(environment))
    return {name: value for name, value in environment.items() if value and (name in ours or name.upper() in ours)}
