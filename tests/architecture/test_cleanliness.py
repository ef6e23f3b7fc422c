"""What is committed runs anywhere: no machine's paths, no registry's address, nothing left to be done."""

from __future__ import annotations

import re
from pathlib import Path

from tests.architecture.sources import ROOT, committed_files, python_files

_MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:work|root|home/\w+|Users/\w+|tmp/\w+)/[\w.-]+")
_REGISTRIES = re.compile(
    r"pypi\.org|pythonhosted\.org|registry\.npmjs|npmjs\.org|registry\.yarnpkg|proxy\.golang|crates\.io"
    r"|(?:ghcr|quay|gcr)\.io/|docker\.io/|docker\.com/v2|index-url|(?:deb|security)\.debian\.org"
)
_UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|NotImplementedError)\b")
_SLEEPS = re.compile(r"\btime\.sleep\(|\basyncio\.sleep\((?!0\))")
_TEXT = {".py", ".md", ".toml", ".txt", ".yaml", ".yml", ".json", ".sh", ".ini", ".cfg", ".mako", ".html", ""}


def _lines_matching(pattern: re.Pattern[str], paths: list[Path]) -> list[str]:
    found = []
    for path in paths:
        if path == Path(__file__) or path.suffix not in _TEXT:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    return found


def test_no_file_names_a_path_of_one_machine() -> None:
    assert _lines_matching(_MACHINE_PATHS, committed_files()) == []


def test_no_file_names_a_package_registry() -> None:
    assert _lines_matching(_REGISTRIES, committed_files()) == []


def test_nothing_is_left_to_be_done() -> None:
    assert _lines_matching(_UNFINISHED, python_files("api", "workers", "core", "deploy", "tests")) == []


def test_tests_wait_on_facts_not_on_time() -> None:
    """Doubles may be slow on purpose; they say so by a file name of their own under tests/doubles/."""
    paths = [path for path in python_files("tests") if "doubles" not in path.parts and "chaos" not in path.parts]
    assert _lines_matching(_SLEEPS, paths) == []
