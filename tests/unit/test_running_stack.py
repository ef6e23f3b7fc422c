"""Commands that describe the running local stack say what it was told, not what their own shell has set."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

from deploy.cli.configuration import join_local_stack, load_settings, take_running_stack
from deploy.cli.main import app
from deploy.local.processes import ProcessId
from deploy.local.secret_files import write_private
from deploy.local.stack_state import FILE_NAME, StackState
from deploy.local.variables import given_variables

GIVEN = {
    "MEMLANE_PORT": "0",
    "MEMLANE_MAX_EVENT_AGE": "3600",
    "MEMLANE_COLLECTION": "mine",
    "OPENAI_API_KEY": "sk-canary",
    "MEMLANE_LLM_MODEL": "own-model",
}
ADDED = {
    "MEMLANE_PORT": "4711",
    "MEMLANE_DATABASE_URL": "postgresql+psycopg://memlane@/memlane",
    "OMP_NUM_THREADS": "1",
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path) -> Iterator[Path]:
    """A home in which a stack runs, told GIVEN by its shell; ours has set nothing but the home."""
    added = ADDED | {"MEMLANE_HOME": str(tmp_path)}
    state = StackState(str(tmp_path), "http://127.0.0.1:4711", ProcessId.of(os.getpid()), True, environment=added)
    state.given = given_variables(GIVEN)
    state.write()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMLANE_", "OPENAI_"))}
    with patch.dict(os.environ, kept | {"MEMLANE_HOME": str(tmp_path)}, clear=True):
        yield tmp_path


def test_what_the_launcher_was_given_is_known_to_another_shell() -> None:
    stack = take_running_stack()
    found = load_settings()
    assert stack.joined
    assert (found.max_event_age, found.port, found.llm_model) == (3600, 4711, "own-model")
    assert found.chat_configured
    assert "does not hold" not in stack.line


def test_what_this_shell_sets_otherwise_does_not_hold_and_is_named() -> None:
    other = {"MEMLANE_MAX_EVENT_AGE": "5", "MEMLANE_LLM_BASE_URL": "http://h/v1", "MEMLANE_LLM_MODEL": "own-model"}
    os.environ.update(other | {"MEMLANE_PORT": "0"})
    stack = take_running_stack()
    found = load_settings()
    assert (found.max_event_age, found.llm_base_url) == (3600, None)
    assert stack.line.endswith("does not hold: MEMLANE_LLM_BASE_URL, MEMLANE_MAX_EVENT_AGE.")


def test_another_database_means_something_else() -> None:
    os.environ["MEMLANE_DATABASE_URL"] = "postgresql://db.example/other"
    stack = take_running_stack()
    assert not stack.joined
    assert "not looked at" in stack.line
    assert load_settings().max_event_age == 86400


def test_the_same_database_in_another_spelling_is_the_stack_s() -> None:
    os.environ["MEMLANE_DATABASE_URL"] = "postgresql://memlane@/memlane"
    assert take_running_stack().joined


def test_settings_shows_the_stack_s_own_and_no_secret() -> None:
    result = CliRunner().invoke(app, ["settings"])
    assert result.exit_code == 0, result.output
    assert "The settings are those of the running stack." in result.output.splitlines()[0]
    assert "3600" in result.output
    assert "canary" not in result.output


def test_other_commands_take_its_services_and_none_of_its_models() -> None:
    assert join_local_stack()
    found = load_settings()
    assert (found.collection, found.llm_model) == ("mine", "gpt-5-mini")


def test_what_is_ours_is_recorded_and_nothing_else() -> None:
    shell = {"MEMLANE_WORKER": "2", "memlane_workers": "3", "MEMLANE_HOST": "", "OPENAI_ORG_ID": "o", "PATH": "/bin"}
    assert given_variables(shell | {"MEMLANE_LIFELINE_FD": "5"}) == {"MEMLANE_WORKER": "2", "memlane_workers": "3"}


def test_the_state_is_readable_by_its_owner_alone_even_over_a_leftover(home: Path) -> None:
    (home / "x.new").touch(0o644)
    write_private(home / "x", "secret")
    assert {oct((home / name).stat().st_mode & 0o777) for name in ("x", FILE_NAME)} == {"0o600"}
