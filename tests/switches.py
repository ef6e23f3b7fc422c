"""Mechanisms of the product, each of which MEMLANE_TEST_OFF=name takes out, to see that a test notices.

The product has no such switch: it is these tests that reach into it, so nothing that is shipped can be turned off.
Each says what it replaces, and fails when that is not there any more.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from psycopg.sql import SQL
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

VARIABLE = "MEMLANE_TEST_OFF"


@dataclass(frozen=True)
class Switch:
    """`proof` is the test that fails without the mechanism, `told` words of that failure."""

    mechanism: str
    off: Callable[[], None]
    proof: str
    told: str


def switch_off(name: str | None) -> None:
    """For this process. Raises ValueError for a name that is no mechanism's."""
    if not name:
        return
    if name not in SWITCHES:
        raise ValueError(f"{VARIABLE} names no mechanism: {name!r}; known: {', '.join(SWITCHES)}")
    SWITCHES[name].off()


def switch_off_as_asked() -> None:
    switch_off(os.environ.get(VARIABLE))


def _without(module: ModuleType, query: str, words: str, instead: str = "") -> None:
    """Another SQL text in place of a module's constant."""
    found = getattr(module, query)
    sql = found.as_string(None) if isinstance(found, SQL) else found.text
    if words not in sql:
        raise ValueError(f"{module.__name__}.{query} does not say {words!r} any more")
    less = sql.replace(words, instead)
    setattr(module, query, type(found)(less))


def _fence() -> None:
    from core.adapters.sql import event_store, ingestion_store, lane_store

    _without(lane_store, "_FENCE", "AND fence = :fence ")
    _without(event_store, "_BEGIN", "AND fence = :fence FOR SHARE", "FOR SHARE")
    whoever = "(SELECT fence FROM leases WHERE project_id = :project AND lane_key = :lane AND :fence > 0)"
    _without(ingestion_store, "_ENTER", ":fence", whoever)


def _takeover() -> None:
    from core.adapters.sql import lane_store

    _without(lane_store, "_TAKE", "FROM leases WHERE expires_at > now()", "FROM leases")


def _heartbeat() -> None:
    from core.adapters.sql import lane_store

    _without(lane_store, "_RENEW", "clock_timestamp() + :seconds", "leases.expires_at + 0 * :seconds")


def _lane_lock() -> None:
    from core.adapters.sql import lane_store

    _without(lane_store, "_RELEASE", " FOR UPDATE")


def _retry_blocks() -> None:
    from core.adapters.sql import lane_store

    _without(lane_store, "_DUE_HEADS", "f.due_at > clock_timestamp()", "false")


def _crash_count() -> None:
    from core.adapters.sql import event_store

    _without(event_store, "_BEGIN", "crashes = crashes + 1", "crashes = crashes + 0")


def _erase_cut() -> None:
    from core.adapters.sql import erasure_store

    _without(erasure_store, "_FENCE_OFF", "WHERE ", "WHERE false AND ")
    _without(erasure_store, "_FAIL", "WHERE ", "WHERE false AND ")


def _projections_row() -> None:
    from core.adapters.sql import ingestion_store, projection_store

    _without(projection_store, "_REQUEST", "AS wanted(id) ORDER BY", "AS wanted(id) WHERE false ORDER BY")
    _without(ingestion_store, "_FINISH", ") wanted ORDER BY", ") wanted WHERE false ORDER BY")


def _sweeper() -> None:
    from workers import process

    process._sweep = lambda *_: None


def _gate() -> None:
    from core.services.gate import Gate

    Gate._enter = lambda self, alone: setattr(self, "_inside", self._inside + 1)  # type: ignore[assignment]


def _scope_lock() -> None:
    from core.adapters.sql import ingestion_store
    from core.adapters.sql.memory_store import SqlMemoryStore

    SqlMemoryStore.lock_scopes = lambda *_: None  # type: ignore[method-assign]
    _without(ingestion_store, "_ENTER", "CAST(:scopes AS text[])", "(CAST(:scopes AS text[]))[1:0]")


def _restore() -> None:
    from core.services.collections import CollectionRegistry

    CollectionRegistry.repair = lambda self: 0  # type: ignore[method-assign]


def _idle_timeout() -> None:
    from core.adapters.sql.database import SqlDatabase

    engine = SqlDatabase._engine

    def patient(self: SqlDatabase, url: str, role: str) -> Any:
        self._options = replace(self._options, idle_in_transaction=0)
        return engine(self, url, role)

    SqlDatabase._engine = patient  # type: ignore[method-assign]


def _after_migration(*statements: str) -> None:
    """What a migrated database lacks. Who has imported `upgrade` by name already gets the lesser one too."""
    from deploy.migrations import run

    upgrade = run.upgrade

    def lesser(url: str) -> str:
        revision = upgrade(url)
        engine = create_engine(url, poolclass=NullPool)
        with engine.begin() as connection:
            for statement in statements:
                connection.execute(text(statement))
        engine.dispose()
        return revision

    for module in list(sys.modules.values()):
        if getattr(module, "upgrade", None) is upgrade:
            vars(module)["upgrade"] = lesser


SWITCHES = {
    "fence": Switch(
        "the fence of a lease, compared before anything is written",
        _fence,
        "tests/contracts/test_lanes.py::"
        "test_an_expired_lease_is_taken_over_with_a_higher_fence_and_the_old_holder_can_do_nothing",
        "assert not finish(db, old, event)",
    ),
    "takeover": Switch(
        "taking over a lease that has run out",
        _takeover,
        "tests/contracts/test_lanes.py::test_a_crash_is_counted_until_the_work_reports",
        "assert lane is not None",
    ),
    "heartbeat": Switch(
        "renewing a lease while its holder works",
        _heartbeat,
        "tests/contracts/test_lanes.py::test_a_lease_that_is_renewed_is_not_taken_over",
        "is None",
    ),
    "lane_lock": Switch(
        "the lock on the lane's row between accept and release",
        _lane_lock,
        "tests/contracts/test_lanes.py::test_a_release_waits_for_an_accept_that_saw_the_lane_held",
        "lost",
    ),
    "retry_blocks": Switch(
        "an event that is not due holds up those behind it",
        _retry_blocks,
        "tests/contracts/test_lanes.py::test_a_retrying_event_blocks_its_lane_and_no_other",
        "assert due(db, lane) == []",
    ),
    "crash_count": Switch(
        "counting a crash before the work that may be one",
        _crash_count,
        "tests/contracts/test_lanes.py::test_a_crash_is_counted_until_the_work_reports",
        '"crashes") == crashes',
    ),
    "unique_index": Switch(
        "the unique index over (project, scope, hash) of active rows",
        lambda: _after_migration("DROP INDEX memories_unique_text"),
        "tests/contracts/test_schema.py::test_the_database_itself_refuses_a_text_that_is_there",
        "UniqueViolation",
    ),
    "row_security": Switch(
        "row-level security",
        lambda: _after_migration(*(f"ALTER TABLE {name} DISABLE ROW LEVEL SECURITY" for name in ("events", "lanes"))),
        "tests/contracts/test_lanes.py::test_another_project_sees_no_row_whatever_it_asks",
        "scalar_one() == 0",
    ),
    "erase_cut": Switch(
        "the cut of an erasure: workers fenced off, open events ended",
        _erase_cut,
        "tests/contracts/test_erase.py::test_an_add_accepted_before_and_not_worked_on_yet_ends_as_erased",
        "erased",
    ),
    "projections_row": Switch(
        "the projections row in the transaction of each change",
        _projections_row,
        "tests/contracts/test_ingest.py::test_an_add_is_stored_indexed_and_told",
        "line.indexed() == {memory.id}",
    ),
    "sweeper": Switch(
        "the sweep of every worker",
        _sweeper,
        "tests/chaos/test_kills.py::test_adds_accepted_while_the_broker_is_away_are_worked_without_it",
        "events open: not within",
    ),
    "gate": Switch(
        "the gate behind which an event that has lost a worker runs alone",
        _gate,
        "tests/unit/test_gate.py::"
        "test_many_pass_together_and_one_that_asks_to_be_alone_waits_for_them_and_holds_the_others_off",
        "AssertionError",
    ),
    "emit_trigger": Switch(
        "the trigger on history that tells webhooks of a change",
        lambda: _after_migration("DROP TRIGGER emit_changes ON history"),
        "tests/contracts/test_webhooks.py::test_an_add_is_told_once_it_is_searchable_and_not_before",
        "assert 0 == 1",
    ),
    "scope_lock": Switch(
        "the lock on a scope while it is written",
        _scope_lock,
        "tests/contracts/test_ingestion_store.py::test_writers_of_one_scope_go_one_after_the_other",
        "assert waits == 1",
    ),
    "restore": Switch(
        "a collection that the index has lost is made again",
        _restore,
        "tests/chaos/test_faults.py::test_an_index_that_has_lost_its_folder_is_filled_again",
        "events open: not within",
    ),
    "idle_timeout": Switch(
        "PostgreSQL ends a transaction whose worker has stopped in it",
        _idle_timeout,
        "tests/chaos/test_kills.py::test_a_worker_frozen_between_fence_check_and_commit_has_no_second_effect",
        "events open: not within",
    ),
}
