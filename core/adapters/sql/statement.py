"""Statements that workers and searches repeat, sent by the driver alone.

What SQLAlchemy makes of a short result (its metadata, its rows) takes several times as long as the driver itself; a
small event is made of little else. Connections, pools and all statements that are composed stay SQLAlchemy's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import psycopg
from psycopg.rows import RowFactory, dict_row, namedtuple_row, tuple_row
from sqlalchemy import Connection

from core.adapters.sql.control import driver_of, lost

Row = TypeVar("Row")
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]+)\b")  # ":name", but not "::type"


class Statement:
    """SQL with parameters as in `sqlalchemy.text`: `:name`.

    Its methods raise psycopg.Error, which SqlDatabase turns into the port's; a broken connection leaves the pool, and
    whoever goes on with it meets DatabaseUnavailable.
    """

    def __init__(self, sql: str) -> None:
        self.text = sql
        self._query = _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%")).encode()

    def rows(self, connection: Connection, params: Mapping[str, Any]) -> list[Any]:
        """All rows, as named tuples."""
        return self._sent(connection, params, namedtuple_row).fetchall()

    def first(self, connection: Connection, params: Mapping[str, Any]) -> Any:
        """The first row as a named tuple, or None."""
        return self._sent(connection, params, namedtuple_row).fetchone()

    def scalar(self, connection: Connection, params: Mapping[str, Any]) -> Any:
        """The first value of the only row."""
        row = self._sent(connection, params, tuple_row).fetchone()
        assert row is not None
        return row[0]

    def mapping(self, connection: Connection, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """The first row as a dict, or None."""
        return self._sent(connection, params, dict_row).fetchone()

    def mappings(self, connection: Connection, params: Mapping[str, Any]) -> list[dict[str, Any]]:
        """All rows, as dicts."""
        return self._sent(connection, params, dict_row).fetchall()

    def run(self, connection: Connection, params: Mapping[str, Any]) -> int:
        """How many rows it touched, for statements whose rows nobody asks for."""
        return self._sent(connection, params, tuple_row).rowcount

    def _sent(
        self, connection: Connection, params: Mapping[str, Any], factory: RowFactory[Row]
    ) -> psycopg.Cursor[Row]:
        driver = driver_of(connection)
        cursor = driver.cursor(row_factory=factory)
        try:
            return cursor.execute(self._query, params)
        except psycopg.Error as error:
            if lost(driver, error.sqlstate):
                connection.invalidate()
            raise
