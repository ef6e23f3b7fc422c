"""Fixtures of the checklist: a project with the official clients, and one more stack that has a chat model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from core.adapters.sql.database import SqlDatabase
from core.services.issue_key import issue_key
from tests.acceptance.account import KINDS, Account, account
from tests.acceptance.model import categorised, echo
from tests.conftest import Stack, TestProject
from tests.doubles.model_server import ModelServer
from tests.stack import running_stack


@pytest.fixture(params=KINDS)
def owner(request: pytest.FixtureRequest, project: TestProject) -> Iterator[Account]:
    """The test's own project, once by MemoryClient and once by AsyncMemoryClient."""
    with account(project, request.param) as made:
        yield made


@pytest.fixture
def plain(project: TestProject) -> Iterator[Account]:
    """The test's own project by MemoryClient, where the client is not what is tested."""
    with account(project) as made:
        yield made


@dataclass(frozen=True)
class ModelStack:
    """A stack with a chat model; `model.chat` scripts and records what is asked of it."""

    stack: Stack
    model: ModelServer

    def new_project(self) -> TestProject:
        issued = issue_key(self.stack.database, "test")
        return TestProject(issued.project_id, issued.key, self.stack.url)


@pytest.fixture(scope="session")
def model_stack() -> Iterator[ModelStack]:
    """`memlane up` with MEMLANE_LLM_BASE_URL, for what needs a model's judgement: categories, supersedes."""
    with ModelServer() as model:
        model.chat.default, model.chat.aside = echo, categorised
        with running_stack(MEMLANE_LLM_BASE_URL=model.url, MEMLANE_LLM_MODEL="double") as (launch, state):
            database = SqlDatabase(state.environment["MEMLANE_DATABASE_URL"])
            try:
                yield ModelStack(Stack(state.api_url, launch.home, state, database), model)
            finally:
                database.close()


@pytest.fixture
def modelled(model_stack: ModelStack) -> Iterator[Account]:
    """A project of this test alone on the stack that has a chat model."""
    with account(model_stack.new_project()) as made:
        yield made


@pytest.fixture(scope="module")
def module_project(stack: Stack) -> TestProject:
    """A project that the tests of one module share, for reading only."""
    issued = issue_key(stack.database, "test")
    return TestProject(issued.project_id, issued.key, stack.url)


@pytest.fixture
def another(new_project: Callable[[], TestProject]) -> Iterator[Account]:
    """A second project, of somebody else."""
    with account(new_project()) as made:
        yield made
