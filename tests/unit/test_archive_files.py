"""`memlane import` reads what it is given, packed or not, by whatever name."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest

from deploy.cli import archive
from deploy.local.failure import StackFailure

_LINES = [b'{"kind": "header"}\n', '{"text": "\u4f60\u597d"}\n'.encode()]
_PLAIN = b"".join(_LINES)


@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.gz", "-"])
@pytest.mark.parametrize("content", [_PLAIN, gzip.compress(_PLAIN)], ids=["plain", "packed"])
def test_lines_are_read_whatever_the_name_says(
    name: str, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(name) if name == "-" else tmp_path / name
    if name == "-":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
    else:
        path.write_bytes(content)
    with archive._read(path) as lines:
        assert list(lines) == _LINES


def test_a_cut_off_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(_PLAIN * 1_000)[:-30])
    with pytest.raises(StackFailure, match=r"cut\.gz"), archive._read(path) as lines:
        list(lines)
