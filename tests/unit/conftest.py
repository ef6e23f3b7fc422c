"""Fixtures of the unit tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.doubles.model_server import ModelServer, memories


@pytest.fixture(scope="session")
def running_server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def server(running_server: ModelServer) -> ModelServer:
    running_server.chat.reset()
    running_server.chat.default = memories()
    return running_server
