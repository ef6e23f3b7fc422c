"""`memlane events`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from deploy.cli.configuration import broker_url, open_database
from deploy.cli.project_id import project_id
from deploy.local.failure import StackFailure

if TYPE_CHECKING:
    from core.adapters.celery_queue import CeleryQueue
    from core.domain.event_overview import EventSummary, Narrowed
    from core.domain.events import EventState

app = typer.Typer(
    help="Look at the work behind accepted requests: what waits, what has failed and why; have it done again.",
    no_args_is_help=True,
)
_AGE = re.compile(r"(\d+)\s*([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

Project = Annotated[
    UUID | None,
    typer.Option(parser=project_id, metavar="ID", help="Only this project's; `memlane keys list` shows the ids."),
]
Codes = Annotated[list[str] | None, typer.Option("--code", help="Only with this error code; may be repeated.")]


@app.command("list")
def list_(
    failed: Annotated[bool, typer.Option("--failed", help="Only what has failed: the dead letters.")] = False,
    status: Annotated[
        str | None, typer.Option(help="Only these: pending, running, succeeded, failed; comma-separated.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Only what ended, or moved last, within 90s, 30m, 2h or 7d.")
    ] = None,
    code: Codes = None,
    project: Project = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many rows.")] = 50,
) -> None:
    """List events of all projects, newest first: status, reason, lane, tries, crashes. No text is shown."""
    if failed and status is not None:
        raise StackFailure("--failed and --status exclude each other.", "`--status failed,pending` names several.")
    narrowed = _narrowed(_states("failed" if failed else status), since, code, project)
    with open_database() as database, database.operations() as tx:
        count, rows = tx.event_overview.count(narrowed), tx.event_overview.newest(narrowed, limit)
    _print(rows)
    typer.echo(f"{count} events" + (f", the newest {len(rows)} shown" if count > len(rows) else ""))


@app.command()
def show(
    event: Annotated[UUID, typer.Argument(help="The event's id.")],
    payload: Annotated[bool, typer.Option("--payload", help="Also what was sent and stored: private text.")] = False,
) -> None:
    """Show one event as JSON: state, error, times, usage, what became of each candidate."""
    import orjson

    from core.domain.event_overview import Narrowed
    from core.domain.render import event_object
    from core.services.read_events import read_event

    with open_database() as database:
        with database.operations() as tx:
            found = tx.event_overview.newest(Narrowed(ids=[event]), 1)
        if not found:
            raise StackFailure(f"There is no event {event}.", "`memlane events list` shows them.")
        shown = event_object(read_event(database, found[0].project_id, str(event)))
    shown |= {"project_id": str(found[0].project_id), "state": found[0].state.value, "lane": found[0].lane_key}
    if not payload:
        shown |= {"payload": None, "results": [result.get("id") for result in shown["results"]]}
        shown["outcomes"] = [{k: v for k, v in outcome.items() if k != "memory"} for outcome in shown["outcomes"]]
    typer.echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())


@app.command()
def retry(
    events: Annotated[list[UUID] | None, typer.Argument(help="Ids of failed events.")] = None,
    failed_since: Annotated[str | None, typer.Option(help="All that failed within 90s, 30m, 2h or 7d.")] = None,
    code: Codes = None,
    project: Project = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be queued, and change nothing.")
    ] = False,
) -> None:
    """Queue failed events again, each at the end of its lane, oldest first.

    An event whose payload is gone (retention, erasure) cannot come back and is left alone.
    """
    from dataclasses import replace

    from core.domain.events import EventState
    from core.services.retry_event import retry_failed

    if not events and failed_since is None:
        raise StackFailure("Which events? Name ids, or --failed-since.", "`memlane events list --failed` shows them.")
    narrowed = replace(_narrowed([EventState.FAILED], failed_since, code, project), ids=events or [])
    with open_database() as database:
        with database.operations() as tx:
            failed = tx.event_overview.count(narrowed)
            wanted = replace(narrowed, retryable=True)
            possible = tx.event_overview.count(wanted)
            rows = tx.event_overview.oldest(wanted, 50) if dry_run else []
        if dry_run:
            _print(rows)
            typer.echo(f"{possible} of {failed} failed events would be queued again.")
            return
        queue = _queue()
        try:
            moved = retry_failed(database, queue, narrowed)
        finally:
            queue.close()
    typer.echo(f"{moved} of {failed} failed events are queued again.")
    if failed > possible:
        typer.echo(f"{failed - possible} cannot be: their payload is gone.")


def _queue() -> CeleryQueue:
    from core.adapters.celery_queue import CeleryQueue
    from core.adapters.telemetry import SignalTelemetry, configure_logging

    return CeleryQueue(broker_url(), SignalTelemetry(configure_logging("warning", "console")))


def _narrowed(
    states: Sequence[EventState], since: str | None, codes: Sequence[str] | None, project: UUID | None
) -> Narrowed:
    from core.domain.errors import CATALOGUE
    from core.domain.event_overview import Narrowed

    for code in codes or ():
        if code not in CATALOGUE:
            raise StackFailure(f"--code: there is no error code {code}.", "docs/http.md lists them.")
    within = age(since) if since is not None else None
    return Narrowed(project, states=states, codes=codes or (), within=within)


def age(written: str) -> timedelta:
    """`90s`, `30m`, `2h`, `7d`. Raises StackFailure for anything else."""
    found = _AGE.fullmatch(written.strip().lower())
    try:
        if found is not None:
            return timedelta(**{_UNITS[found[2]]: int(found[1])})
    except OverflowError:
        pass
    raise StackFailure(f"{written!r} is not a time such as 90s, 30m, 2h or 7d.")


def _states(words: str | None) -> list[EventState]:
    from core.domain.events import WIRE_STATUS

    wanted = {word.strip().upper() for word in (words or "").split(",") if word.strip()}
    unknown = wanted - set(WIRE_STATUS.values())
    if unknown:
        known = "pending, running, succeeded, failed"
        raise StackFailure(f"--status: {', '.join(sorted(unknown)).lower()} is none of {known}.")
    return [state for state, status in WIRE_STATUS.items() if status in wanted]


def _print(rows: Sequence[EventSummary]) -> None:
    from rich.table import Table

    from deploy.cli.printing import console

    table = Table("Id", "Project", "Type", "State", "Code", "Reason", "Lane", "Tries", "Crashes", "Accepted", "Ended")
    for row in rows:
        ended = f"{row.completed_at:%Y-%m-%d %H:%M:%S}" if row.completed_at else ""
        retryable = "" if row.has_payload or row.state != "failed" else " (payload gone)"
        table.add_row(
            str(row.id),
            str(row.project_id),
            row.event_type,
            row.state.value + retryable,
            row.code or "",
            row.detail or "",
            f"{row.lane_key[:8]} #{row.seq}",
            str(row.tries),
            str(row.crashes),
            f"{row.created_at:%Y-%m-%d %H:%M:%S}",
            ended,
        )
    if rows:
        console().print(table)
