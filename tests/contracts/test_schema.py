"""The declared tables and the migrated schema say the same: names, columns, whether null is allowed, primary keys."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import create_engine, inspect
from sqlalchemy.pool import NullPool

from core.adapters.sql.database import SqlDatabase
from core.adapters.sql.tables import metadata
from core.domain.ids import new_id
from core.domain.memory import Memory, MemoryState
from core.domain.scope import Scope
from core.ports.database import UniqueViolation


def test_every_declared_table_is_what_the_migrations_make(database: str) -> None:
    inspector = inspect(create_engine(database, poolclass=NullPool))
    for name, table in metadata.tables.items():
        found = {column["name"]: column["nullable"] for column in inspector.get_columns(name)}
        declared = {column.name: bool(column.nullable) for column in table.columns}
        assert found == declared, name
        keys = set(inspector.get_pk_constraint(name)["constrained_columns"])
        assert keys == {column.name for column in table.primary_key}, name


def test_every_table_with_rows_of_a_project_is_under_row_level_security(database: str) -> None:
    engine = create_engine(database, poolclass=NullPool)
    inspector = inspect(engine)
    with engine.connect() as connection:
        secured = {
            row.relname
            for row in connection.exec_driver_sql("SELECT relname FROM pg_class WHERE relrowsecurity").fetchall()
        }
    of_projects = {
        name
        for name in inspector.get_table_names()
        if "project_id" in {column["name"] for column in inspector.get_columns(name)}
    }
    assert of_projects - secured == {"api_keys"}  # read through a function alone


def test_the_database_itself_refuses_a_text_that_is_there(database: str) -> None:
    """Behind the locks of the writers: one that forgot them would still store no text twice."""
    store, now = SqlDatabase(database), datetime.now(UTC)
    first = Memory(
        id=new_id(), project_id=new_id(), scope=Scope(user_id="ann"), memory="I like tea", hash="tea",
        state=MemoryState.ACTIVE, created_at=now, updated_at=now,
    )  # fmt: skip
    with store.transaction(first.project_id) as tx:
        tx.memories.add([first])
    with pytest.raises(UniqueViolation), store.transaction(first.project_id) as tx:
        tx.memories.add([replace(first, id=new_id())])
    with store.transaction(first.project_id) as tx:
        tx.memories.add([replace(first, id=new_id(), state=MemoryState.SUPERSEDED)])
    store.close()
