"""The declared tables and the migrated schema say the same: names, columns, whether null is allowed, primary keys."""

from __future__ import annotations

from sqlalchemy import create_engine, inspect
from sqlalchemy.pool import NullPool

from core.adapters.sql.tables import metadata


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
