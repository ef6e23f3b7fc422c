"""Readiness: which parts of the system answer at this moment. Each check is one word, `ok` or what is wrong."""

from __future__ import annotations

from collections.abc import Callable

from core.ports.database import DatabaseUnavailable
from core.ports.index import IndexUnavailable
from core.services.runtime import Runtime

OK = "ok"
HEARTBEAT_SECONDS = 10.0
REQUIRED = ("database",)  # without it no add can be accepted

Check = Callable[[Runtime], str]


def database(runtime: Runtime) -> str:
    try:
        with runtime.database.operations() as tx:
            return OK if tx.ops.is_current() else "migrations are missing"
    except DatabaseUnavailable:
        return "unreachable"


def broker(runtime: Runtime) -> str:
    return OK if runtime.queue.reachable() else "unreachable"


def index(runtime: Runtime) -> str:
    try:
        runtime.index.version()
    except IndexUnavailable:
        return "unreachable"
    return OK


def worker(runtime: Runtime) -> str:
    """A worker of the ingest queue has shown itself within the last ten seconds."""
    try:
        with runtime.database.operations() as tx:
            kinds = {row.kind for row in tx.ops.alive(HEARTBEAT_SECONDS)}
    except DatabaseUnavailable:
        return "unknown"
    return OK if "ingest" in kinds else "none alive"


CHECKS: dict[str, Check] = {"database": database, "broker": broker, "index": index, "worker": worker}
