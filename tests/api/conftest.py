"""Servers that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.api.doubles import FewParts, echoing_app
from tests.api.serving import Server, serving


@pytest.fixture(scope="package")
def parts() -> FewParts:
    return FewParts()


@pytest.fixture(scope="package")
def echo(parts: FewParts) -> Iterator[Server]:
    with serving(echoing_app(parts)) as server:
        yield server
