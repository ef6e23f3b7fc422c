"""API keys on PostgreSQL: what is issued works, what is revoked does not, and the secret itself is not kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest

from core.adapters.sql.database import SqlDatabase
from core.services.issue_key import (
    UnknownProject,
    ensure_first_key,
    hash_key,
    issue_key,
    list_keys,
    new_key,
    revoke_key,
)
from deploy.migrations.run import upgrade


@pytest.fixture(scope="module")
def store(new_database: Callable[[], str]) -> Iterator[SqlDatabase]:
    url = new_database()
    upgrade(url)
    database = SqlDatabase(url)
    yield database
    database.close()


def _project_of(store: SqlDatabase, key: str) -> object:
    with store.operations() as transaction:
        row = transaction.projects.lookup_key(hash_key(key))
    return row and row.project_id


def test_an_issued_key_leads_to_its_own_new_project(store: SqlDatabase) -> None:
    one, two = issue_key(store, "one"), issue_key(store, "two")
    assert _project_of(store, one.key) == one.project_id != two.project_id


def test_a_second_key_of_one_project(store: SqlDatabase) -> None:
    first = issue_key(store, "shared")
    second = issue_key(store, "reader", project_id=first.project_id, scopes=["read"])
    assert second.project_id == first.project_id
    assert {row.name: row.scopes for row in list_keys(store)}["reader"] == ["read"]


def test_a_key_of_a_project_that_does_not_exist_is_refused(store: SqlDatabase) -> None:
    with pytest.raises(UnknownProject):
        issue_key(store, "lost", project_id=uuid4())


def test_a_scope_that_does_not_exist_is_refused(store: SqlDatabase) -> None:
    with pytest.raises(ValueError, match="owner"):
        issue_key(store, "lost", scopes=["owner"])


def test_a_revoked_key_leads_nowhere(store: SqlDatabase) -> None:
    issued = issue_key(store, "leaving")
    assert revoke_key(store, str(issued.id)) == 1
    assert _project_of(store, issued.key) is None
    assert revoke_key(store, str(issued.id)) == 0


def test_the_first_key_is_made_once_and_keeps_its_project(store: SqlDatabase) -> None:
    key = new_key()
    assert ensure_first_key(store, key) is True
    before = _project_of(store, key)
    assert ensure_first_key(store, key) is False
    assert _project_of(store, key) == before is not None


def test_the_list_shows_less_than_a_third_of_a_key(store: SqlDatabase) -> None:
    key = "short-key"
    ensure_first_key(store, key)
    shown = {row.prefix for row in list_keys(store)}
    assert "sho" in shown
    assert not any(key in str(row) for row in list_keys(store))
