"""Fixtures of the launcher's tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from click.testing import Result
from typer.testing import CliRunner

from deploy.cli.main import app
from tests.conftest import Stack
from tests.launcher.commands import Command


@pytest.fixture
def here(stack: Stack) -> Iterator[Command]:
    """`memlane …` in this process, which is much quicker than one of its own."""

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, arguments)

    with patch.dict(os.environ, stack.state.environment):
        yield run
