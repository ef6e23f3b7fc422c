"""`--project` takes an id as the database writes it and as clients see it."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from core.domain.ids import new_id, project_wire_id
from deploy.cli.main import app
from deploy.cli.project_id import project_id


def test_both_forms_name_the_same_project() -> None:
    id_ = new_id()
    assert project_id(str(id_)) == project_id(project_wire_id(id_)) == project_id(id_) == id_


@pytest.mark.parametrize("written", ["", "proj_", "proj_12", "org_" + "0" * 32, "mine"])
def test_anything_else_is_refused(written: str) -> None:
    with pytest.raises(typer.BadParameter, match="no project id"):
        project_id(written)


@pytest.mark.parametrize("command", [("export",), ("import",), ("keys", "create"), ("events", "list")])
def test_every_command_says_what_it_wants(command: tuple[str, ...], tmp_path: Path) -> None:
    refused = CliRunner().invoke(app, [*command, "--project", "mine", str(tmp_path / "x")])
    assert refused.exit_code == 2
    assert "no project id" in refused.output
