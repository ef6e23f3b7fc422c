"""Files and functions stay small enough to be read in one go."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT, python_files

LONGEST_FILE = 300
LONGEST_FUNCTION = 50
MOST_PARAMETERS = 5
DEEPEST_NESTING = 4
_BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match, ast.AsyncFor, ast.AsyncWith)


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


@pytest.mark.parametrize("path", python_files(), ids=_name)
def test_a_file_is_at_most_300_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


def test_tests_are_at_most_400_lines_a_file() -> None:
    sizes = {_name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in python_files("tests")}
    assert {name: lines for name, lines in sizes.items() if lines > LONGEST_FILE + 100} == {}


def test_a_function_is_at_most_50_lines() -> None:
    long = {}
    for path in python_files():
        for function in _functions(path):
            lines = (function.end_lineno or function.lineno) - function.lineno + 1
            if lines > LONGEST_FUNCTION:
                long[f"{_name(path)}:{function.name}"] = lines
    assert long == {}


def test_blocks_are_nested_at_most_four_deep() -> None:
    deep = {}
    for path in python_files():
        for function in _functions(path):
            depth = max((_depth(statement) for statement in function.body), default=0)
            if depth > DEEPEST_NESTING:
                deep[f"{_name(path)}:{function.name}"] = depth
    assert deep == {}


def _depth(node: ast.AST) -> int:
    """Blocks within blocks; `elif` is no deeper than its `if`, and an inner function starts anew."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return 0
    own = 1 if isinstance(node, _BLOCKS) else 0
    inner = 0
    for child in ast.iter_child_nodes(node):
        elif_branch = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        inner = max(inner, _depth(child) - (1 if elif_branch else 0))
    return own + inner
