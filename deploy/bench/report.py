"""What a benchmark tells: tables with their circumstances, for a terminal, for docs/benchmarks.md, and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from deploy.bench.machine import describe_machine, describe_versions

Cell = str | int | float | None
_WORDS = 24  # characters; a column with a longer text holds words, not figures


@dataclass
class Figures:
    """One table. Floats are shown with three significant digits, times carry their unit in the column's name."""

    title: str
    columns: list[str]
    rows: list[list[Cell]] = field(default_factory=list)


@dataclass
class Report:
    """One benchmark's run. `sizes` are what was measured on, `notes` what a reader must know to judge it."""

    name: str
    command: str
    sizes: dict[str, Cell] = field(default_factory=dict)
    tables: list[Figures] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    machine: dict[str, str] = field(default_factory=describe_machine)
    versions: dict[str, str] = field(default_factory=describe_versions)
    at: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"))

    def print(self, console: Console) -> None:
        for figures in self.tables:
            table = Table(title=figures.title, title_justify="left")
            for number, column in enumerate(figures.columns):
                words = any(len(show(row[number])) > _WORDS for row in figures.rows)
                table.add_column(column, justify="left" if number == 0 or words else "right")
            for row in figures.rows:
                table.add_row(*[show(cell) for cell in row])
            console.print(table)
        for line in self._circumstances():
            console.print(line, style="dim", markup=False, highlight=False)

    def markdown(self) -> str:
        """A section for docs/benchmarks.md: command, tables, circumstances."""
        parts = [f"## {self.name}\n", f"```sh\n{self.command}\n```\n"]
        for figures in self.tables:
            head = "| " + " | ".join(figures.columns) + " |\n|" + "---|" * len(figures.columns)
            rows = ["| " + " | ".join(show(cell).replace("|", "\\|") for cell in row) + " |" for row in figures.rows]
            parts.append("\n".join([f"**{figures.title}**\n", head, *rows]) + "\n")
        parts.append("\n".join(f"- {line}" for line in self._circumstances()) + "\n")
        return "\n".join(parts)

    def save(self, path: Path, details: dict[str, Any]) -> None:
        """Write everything as JSON, with `details` (single samples, single questions) beside the tables."""
        body = asdict(self) | {"details": details}
        path.write_text(json.dumps(body, ensure_ascii=False, indent=1, default=str), encoding="utf-8")

    def _circumstances(self) -> list[str]:
        return [
            *self.notes,
            "sizes: " + ", ".join(f"{key} {show(value)}" for key, value in self.sizes.items()),
            "machine: " + ", ".join(f"{key} {value}" for key, value in self.machine.items()),
            "versions: " + ", ".join(f"{key} {value}" for key, value in self.versions.items()),
            f"measured: {self.at}",
        ]


def show(cell: Cell) -> str:
    """A cell as text: integers with thousands separators, floats with three significant digits."""
    if cell is None or (isinstance(cell, float) and cell != cell):
        return "–"
    if isinstance(cell, int) and not isinstance(cell, bool):
        return f"{cell:,}"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 1_000 else f"{cell:.3g}" if abs(cell) >= 1 else f"{cell:.3f}"
    return str(cell)
