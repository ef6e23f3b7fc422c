"""`memlane doctor --deep`: whether the index says what the rows call for, and what else was left half-done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from deploy.cli.check import Check
from deploy.cli.rebuilding import progress, rebuilding

if TYPE_CHECKING:
    from core.ports.stores.collections import ByRole
    from core.services.drift import Drift

_SHOWN = 5
_LATE_SECONDS = 60.0
_FIX = "`memlane doctor --deep --fix` repairs it."


def deep_checks(*, sample: int | None, fix: bool) -> Iterator[Check]:
    """Raises StackFailure when the database or the index cannot be reached."""
    from core.services.drift import find_drift, repair

    with rebuilding() as parts:
        with parts.database.operations() as tx:
            rows = tx.ops.collections()
            late = len(tx.projections.pending(_LATE_SECONDS, 10_000))
        yield _projections(late)
        yield from _rebuild(rows)
        with progress() as show:
            drift = find_drift(parts.database, parts.index, parts.prefix, sample=sample, tell=show)
        if drift is None:
            yield Check("Drift", "off", "no index yet")
            return
        yield from _drift(drift, sample)
        if fix and drift.found:
            queued = repair(parts.database, parts.index, drift)
            yield Check("Repair", "ok", f"{queued} projections queued; the workers apply them within seconds")


def _projections(late: int) -> Check:
    if late:
        detail = f"{late} changes have waited for the index for more than {_LATE_SECONDS:.0f} s"
        return Check("Projections", "warn", detail, "Is the index reachable, and does an ingest worker run?")
    return Check("Projections", "ok", "none is late")


def _rebuild(rows: ByRole) -> Iterator[Check]:
    """What `memlane reindex` has begun and not ended."""
    again = "`memlane reindex` goes on with it (with --re-embed where it was begun so), `--abort` gives it up."
    building, retiring = rows.get("building"), rows.get("retiring")
    if building is not None:
        how = f"re-embedding to {building.embedding_model}" if building.staged else "rebuild"
        yield Check("Rebuild", "warn", f"{how}: {building.done} done, last moved {building.moved_at:%H:%M:%S}", again)
    if retiring is not None:
        yield Check("Rebuild", "warn", f"the old collection {retiring.name} is still there", "`memlane reindex`.")


def _drift(drift: Drift, sample: int | None) -> Iterator[Check]:
    looked = f"{drift.rows} memories, {drift.points} points" if sample is None else f"a sample of {sample}"
    kinds: list[tuple[str, Sequence[object]]] = [
        ("memories without a point", [memory for _, memory in drift.missing]),
        ("points that say something else than their memory", [memory for _, memory in drift.differing]),
        ("points without a memory", [memory for _, memory in drift.extra]),
        ("collections that are left over", drift.left_over),
    ]
    if not drift.found:
        yield Check("Drift", "ok", f"none: {looked} compared in {drift.collection}")
    for what, found in kinds:
        if found:
            some = ", ".join(map(str, found[:_SHOWN])) + (" …" if len(found) > _SHOWN else "")
            yield Check("Drift", "broken", f"{len(found)} {what}: {some}", _FIX)
