"""`memlane doctor --compact`: what was deleted is taken off the disk, and the space given back.

Deleted rows and points are gone for every reader at once, but their bytes stay in the files until those are
written anew: PostgreSQL's tables (VACUUM FULL), its statistics, its write-ahead log, and the index's segments.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from deploy.cli.check import Check
from deploy.cli.rebuilding import rebuilding
from deploy.local.failure import StackFailure

_TABLES = "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
_SIZE = "SELECT pg_database_size(current_database())"
_LOG_SETTINGS = {"wal_recycle": "off", "min_wal_size": "32MB"}  # segments are removed, not renamed and kept
_FEW_SEGMENTS = 3  # the one that is written, the one before it, and one ahead
_MOST_SEGMENTS = 500
_RELOAD_SECONDS = 1.0


def compact() -> Iterator[Check]:
    """Raises StackFailure when the database or the index cannot be reached."""
    import psycopg

    from core.services.reindex import reindex
    from deploy.cli.configuration import database_url

    url = database_url().replace("postgresql+psycopg://", "postgresql://", 1)
    try:
        with psycopg.connect(url, connect_timeout=5, autocommit=True, application_name="memlane compact") as link:
            yield _rewrite_tables(link)
            yield _empty_log(link)
    except psycopg.OperationalError as error:
        raise StackFailure(f"PostgreSQL: {str(error).strip()}", "Run it again; nothing is lost.") from error
    with rebuilding() as parts:
        with parts.database.operations() as tx:
            started = "active" in tx.ops.collections()
        if started:
            yield Check("Index", "ok", f"written anew as {reindex(parts)}, the old collection removed")
        else:
            yield Check("Index", "off", "no index yet")


def _rewrite_tables(link: Any) -> Check:
    """Every table in turn, locked while it is written; statistics are made anew, since they quote values."""
    import psycopg

    before = link.execute(_SIZE).fetchone()[0]
    tables = [row[0] for row in link.execute(_TABLES).fetchall()]
    link.execute("SET lock_timeout = '60s'")
    for table in tables:
        link.execute(f"VACUUM (FULL, ANALYZE) {table}")
    try:
        for table in ("pg_catalog.pg_statistic", "pg_catalog.pg_statistic_ext_data"):
            link.execute(f"VACUUM FULL {table}")
    except psycopg.errors.InsufficientPrivilege:
        note = "Its owner has to rewrite pg_statistic, whose old rows quote values."
        return Check("Tables", "warn", f"{len(tables)} written anew, without the statistics", note)
    after = link.execute(_SIZE).fetchone()[0]
    return Check("Tables", "ok", f"{len(tables)} written anew, {before / 1e6:.1f} MB to {after / 1e6:.1f} MB")


def _empty_log(link: Any) -> Check:
    """What the write-ahead log repeats of older writes goes with its segments."""
    import psycopg

    try:
        with _settings_of_the_log(link):
            _use_up(link)
            for _ in range(2):  # a checkpoint keeps the segment that the one before it began in
                _next_segment(link)
                link.execute("CHECKPOINT")
        kept = len(_segments(link))
    except psycopg.errors.InsufficientPrivilege:
        note = "Its owner empties it: wal_recycle = off, then pg_switch_wal() and CHECKPOINT until all is new."
        return Check("Log", "warn", "the write-ahead log was left as it is: this account may not empty it", note)
    if kept > _FEW_SEGMENTS:
        note = "Archiving or a replication slot holds them; what they repeat is on disk until they are gone."
        return Check("Log", "warn", f"{kept} segments of the write-ahead log are held", note)
    return Check("Log", "ok", "earlier segments of the write-ahead log removed")


def _use_up(link: Any) -> None:
    """Write through the segments that were renamed for later use: they still hold what they held before."""
    for _ in range(_MOST_SEGMENTS):
        current = link.execute("SELECT pg_walfile_name(pg_current_wal_insert_lsn())").fetchone()[0]
        if all(name <= current for name in _segments(link)):
            return
        _next_segment(link)


def _next_segment(link: Any) -> None:
    link.execute("SELECT pg_current_xact_id()")  # without a record in it a segment is not left
    link.execute("SELECT pg_switch_wal()")  # fills the rest with zeros


def _segments(link: Any) -> list[str]:
    rows = link.execute("SELECT name FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$'").fetchall()
    return [row[0] for row in rows]


@contextmanager
def _settings_of_the_log(link: Any) -> Iterator[None]:
    """Segments are removed instead of renamed while inside; afterwards the settings are what they were."""
    query = "SELECT name, setting FROM pg_file_settings WHERE sourcefile LIKE '%%auto.conf' AND name = ANY(%s)"
    before = dict(link.execute(query, [list(_LOG_SETTINGS)]).fetchall())
    try:
        _set(link, _LOG_SETTINGS)
        yield
    finally:
        _set(link, {name: before.get(name) for name in _LOG_SETTINGS})


def _set(link: Any, values: Mapping[str, str | None]) -> None:
    from psycopg import sql

    for name, value in values.items():
        change = sql.SQL("SET {} = {}") if value is not None else sql.SQL("RESET {}")
        parts = [sql.Identifier(name)] + ([sql.Literal(value)] if value is not None else [])
        link.execute(sql.SQL("ALTER SYSTEM ") + change.format(*parts))
    link.execute("SELECT pg_reload_conf()")
    time.sleep(_RELOAD_SECONDS)  # the checkpointer is told by a signal, and nothing tells when it has read it
