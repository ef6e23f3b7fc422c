"""Pages speak of files, commands and pages that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main

from deploy.cli.main import app
from tests.architecture.sources import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
_CODE = re.compile(r"`((?:api|core|deploy|docs|tests|workers)/[\w./-]+)`")
_LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
_COMMAND = re.compile(r"`memlane ([a-z]+)")
_TARGET = re.compile(r"(?:^|`)make ([a-z-]+)", re.MULTILINE)


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    named = _CODE.findall(page.read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = _LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_command_that_a_page_names_exists() -> None:
    known = set(typer.main.get_group(app).commands)
    named = {name for page in PAGES for name in _COMMAND.findall(page.read_text(encoding="utf-8"))}
    assert named - known == set()


def test_every_make_target_that_a_page_names_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    known = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = {name for page in PAGES for name in _TARGET.findall(page.read_text(encoding="utf-8"))}
    assert named - known == set()


def test_every_decision_is_in_the_list() -> None:
    folder = ROOT / "docs" / "adr"
    listed = (folder / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in sorted(folder.glob("0*.md")) if page.name not in listed] == []


def test_the_first_screen_of_the_readme_holds_the_two_commands() -> None:
    first_screen = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:20]
    for command in ("make demo", "make up"):
        assert any(line.startswith(command) for line in first_screen)
