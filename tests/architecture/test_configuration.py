"""docs/configuration.md names every setting, its default and its meaning, and no setting that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import AliasChoices
from pydantic.fields import FieldInfo

from core.settings import Settings

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
