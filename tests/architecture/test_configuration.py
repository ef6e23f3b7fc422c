"""docs/configuration.md names every setting, its default and its meaning, and no setting that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import AliasChoices
from pydantic.fields import FieldInfo

from core.settings import Settings
from tests.architecture.sources import ROOT, python_files

PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
# Variables read by one program that is not the server: they stand in the second table.
NOT_SETTINGS = {"MEMLANE_URL", "MEMLANE_REQUIRE"}


def variables(name: str, field: FieldInfo) -> list[str]:
    """The environment variables of a setting, the preferred one first."""
    if isinstance(field.validation_alias, AliasChoices):
        return [str(choice) for choice in field.validation_alias.choices]
    return [f"MEMLANE_{name.upper()}"]


def row(name: str, field: FieldInfo) -> str:
    """The table row that the page must hold."""
    names = " or ".join(f"`{variable}`" for variable in variables(name, field))
    default = "" if field.default is None else f"`{field.default}`"
    return f"| {names} | {default} | {field.description} |"


@pytest.mark.parametrize("name", list(Settings.model_fields))
def test_every_setting_has_its_row(name: str) -> None:
    field = Settings.model_fields[name]
    assert field.description, f"{name} has no description"
    assert row(name, field) in PAGE.splitlines()


def test_no_variable_is_described_that_does_not_exist() -> None:
    known = {variable for name, field in Settings.model_fields.items() for variable in variables(name, field)}
    named = set(re.findall(r"\bMEMLANE_[A-Z_]+\b", PAGE))
    assert named - known - NOT_SETTINGS == set()


def test_what_is_not_in_force_yet_is_said_and_nothing_else_is() -> None:
    """A setting is in force when something besides its declaration and the wiring reads it."""
    section = PAGE.split("## Read, and not in force yet", 1)[1].split("\n## ", 1)[0]
    wiring = ("core/settings.py", "core/services/runtime.py")
    readers = [path for path in python_files() if path.relative_to(ROOT).as_posix() not in wiring]
    source = "\n".join(path.read_text(encoding="utf-8") for path in readers)
    source = re.sub(r"^ +(\w+)=settings\.\1,$", "", source, flags=re.MULTILINE)  # from settings to limits: wiring
    # core/container.py hands these over under the same or another name of `Limits`
    limits = {"llm_window_tokens": "window_tokens"}
    idle = {
        f"MEMLANE_{name.upper()}"
        for name in Settings.model_fields
        if not re.search(rf"\b(?:settings|limits)(?:\(\))?\.(?:{name}|{limits.get(name, name)})\b", source)
    }
    assert set(re.findall(r"\bMEMLANE_[A-Z_]+\b", section)) == idle
