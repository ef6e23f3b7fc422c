"""Reports name their circumstances, and errors end with a sentence."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deploy.bench.cli import app
from deploy.bench.console import typed_command
from deploy.bench.machine import describe_machine, describe_versions
from deploy.bench.report import Figures, Report, show
from deploy.cli.main import app as memlane


def test_cells_show_three_digits_and_gaps() -> None:
    assert [show(cell) for cell in (0.80123, 12.345, 1234.5, 12345, None, float("nan"), "x")] == [
        "0.801",
        "12.3",
        "1,234",
        "12,345",
        "–",
        "–",
        "x",
    ]


def test_markdown_holds_command_table_and_circumstances() -> None:
    report = Report("Speed", "memlane bench ack", sizes={"adds": 3000})
    report.tables.append(Figures("Times", ["what", "p50 ms"], [["add", 1.5]]))
    page = report.markdown()
    assert "| what | p50 ms |\n|---|---|\n| add | 1.5 |" in page
    for part in ("## Speed", "memlane bench ack", "adds 3,000", "cores", "versions: ", "measured: "):
        assert part in page


def test_json_holds_the_single_samples(tmp_path: Path) -> None:
    Report("Speed", "c").save(tmp_path / "r.json", {"latency_ms": [1.0]})
    saved = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert saved["details"] == {"latency_ms": [1.0]}
    assert saved["machine"]["cores"]


def test_the_machine_and_the_versions_are_told() -> None:
    assert set(describe_machine()) == {"processor", "cores", "memory", "system", "python"}
    assert "qdrant-client" in describe_versions()
    assert describe_versions(("no-such-package",)) == {}


def test_the_told_command_has_no_key_and_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["memlane", "bench", "locomo", "/some/where/x.json", "--api-key", "m0-secret"])
    assert typed_command() == "memlane bench locomo x.json"


def test_a_missing_file_ends_with_a_sentence_and_exit_code_1() -> None:
    result = CliRunner().invoke(app, ["locomo", "no-such-file.json"])
    assert result.exit_code == 1
    assert "not part of Memlane" in " ".join(result.output.split())


def test_a_server_without_a_key_is_refused() -> None:
    result = CliRunner().invoke(app, ["ack", "--url", "http://127.0.0.1:9"], env={"MEMLANE_API_KEY": ""})
    assert result.exit_code == 1
    assert "needs --api-key" in result.output


def test_memlane_bench_hands_its_words_on() -> None:
    result = CliRunner().invoke(memlane, ["bench", "ack", "--help"])
    assert result.exit_code == 0
    assert "memlane bench ack" in result.output
    assert "--rate" in result.output
