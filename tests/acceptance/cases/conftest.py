"""One project for each case: on the plain stack, and on the stack that has a chat model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance.cases.field import Field, field_of
from tests.acceptance.conftest import ModelStack
from tests.acceptance.model import echo
from tests.conftest import TestProject


@pytest.fixture
def field(project: TestProject) -> Iterator[Field]:
    with field_of(project) as made:
        yield made


@pytest.fixture
def with_model(model_stack: ModelStack) -> Iterator[Field]:
    """The model's script is the test's own; what a test leaves of it is dropped."""
    model_stack.model.chat.reset()
    with field_of(model_stack.new_project()) as made:
        yield made
    model_stack.model.chat.reset()
    model_stack.model.chat.default = echo
