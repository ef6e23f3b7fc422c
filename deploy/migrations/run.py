"""Runs the migrations, one process at a time, as the owner of the schema."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

_HERE = Path(__file__).parent
_LOCK = 0x4D656D6C  # "Meml": two processes that start together migrate one after the other


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_HERE))
    return config


def head() -> str:
    """The newest revision that this code knows."""
    revision = ScriptDirectory.from_config(_config()).get_current_head()
    if revision is None:
        raise RuntimeError("no migrations are packaged")
    return revision


def upgrade(url: str) -> str:
    """Bring the database at `url` (SQLAlchemy, psycopg 3) to the newest revision; returns it."""
    engine = create_engine(url, poolclass=NullPool, connect_args={"connect_timeout": 10})
    with engine.connect() as connection:
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _LOCK})
        connection.commit()
        try:
            config = _config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            connection.commit()
        finally:
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _LOCK})
            connection.commit()
    engine.dispose()
    return head()
