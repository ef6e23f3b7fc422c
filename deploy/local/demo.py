"""`make demo`: the whole job on this machine, through the public HTTP API, in a home that is removed afterwards.

python -m deploy.local.demo [FILE]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

import httpx
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from deploy.local.conversation import GENERAL_QUESTIONS, Conversation, Session, read_conversation
from deploy.local.failure import StackFailure
from deploy.local.launch import Launch

_EVENT_SECONDS = 180.0  # with a chat model behind it, extraction may take its time
_SHOWN_HITS = 3


@dataclass
class Times:
    """Seconds, by what took them."""

    start: float = 0.0
    accepts: list[float] = field(default_factory=list)
    searches: list[float] = field(default_factory=list)
    search_stages: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    waiting: list[float] = field(default_factory=list)  # of each event for its worker
    stages: dict[str, float] = field(default_factory=lambda: defaultdict(float))


def main(arguments: list[str]) -> int:
    console = Console(highlight=False, soft_wrap=True)
    try:
        conversation = read_conversation(Path(arguments[0]) if arguments else None)
        return _run(conversation, console)
    except StackFailure as failure:
        console.print(f"[bold red]{failure.message}[/]")
        console.print(failure.fix, markup=False)
        return 1
    except KeyboardInterrupt:
        console.print("Stopped.")
        return 130


def _run(conversation: Conversation, console: Console) -> int:
    times = Times()
    home = Path(tempfile.mkdtemp(prefix="memlane-demo-"))
    began = time.monotonic()
    launch = Launch(home)
    try:
        with _explaining(launch, console):
            with console.status("Starting PostgreSQL, Valkey, the vector engine, the API and the workers …"):
                state = launch.wait_ready()
            times.start = time.monotonic() - began
            console.print(f"The stack is ready: {state.api_url} (data in {home}, removed at the end)", markup=False)
            headers = {"Authorization": f"Token {(home / 'api_key').read_text().strip()}"}
            with httpx.Client(base_url=state.api_url, headers=headers, timeout=60.0) as client:
                _remember(client, conversation, console, times)
                _ask(client, conversation, console, times)
        _show_times(console, times)
        with console.status("Stopping …"):
            launch.stop()
    finally:
        launch.stop()
        launch.discard()
    console.print("Everything is stopped and removed. `make up` serves it for real.")
    return 0


@contextmanager
def _explaining(launch: Launch, console: Console) -> Iterator[None]:
    """Where something fails, the last words of the children are shown before the home is removed."""
    try:
        yield
    except (StackFailure, httpx.HTTPError) as failure:
        for name, tail in launch.log_tails().items():
            console.rule(f"last lines of {name}")
            console.print(tail, markup=False)
        if isinstance(failure, StackFailure):
            raise
        raise StackFailure("The API did not answer as expected.", str(failure)) from failure


def _remember(client: httpx.Client, conversation: Conversation, console: Console, times: Times) -> None:
    """One add per session, all accepted first; then each event is polled to its end, in order."""
    console.rule("Remembering")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    stored = 0
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(f"{conversation.messages} messages", total=len(conversation.sessions))
        events = [_add(client, conversation.user_id, session, times) for session in conversation.sessions]
        for number, (event_id, session) in enumerate(zip(events, conversation.sessions, strict=True), start=1):
            event, seen = _follow(client, event_id)
            stored += len(event["results"])
            progress.console.print(_way(number, len(session.messages), event, seen), markup=False)
            progress.advance(task)
            _note(event, times)
    console.print(f"{conversation.messages} messages became {stored} memories.")


def _add(client: httpx.Client, user_id: str, session: Session, times: Times) -> str:
    body: dict[str, Any] = {"messages": session.messages, "user_id": user_id}
    if session.said_at:
        body["timestamp"] = int(session.said_at.timestamp())
    began = time.perf_counter()
    answer = client.post("/v3/memories/add/", json=body)
    times.accepts.append(time.perf_counter() - began)
    answer.raise_for_status()
    return str(answer.json()["event_id"])


def _follow(client: httpx.Client, event_id: str) -> tuple[dict[str, Any], list[str]]:
    """The event at its end, and the statuses it was seen in. Raises StackFailure when it fails or takes too long."""
    seen = ["PENDING"]  # what the add was answered with
    until = time.monotonic() + _EVENT_SECONDS
    while time.monotonic() < until:
        answer = client.get(f"/v1/event/{event_id}/")
        answer.raise_for_status()
        event: dict[str, Any] = answer.json()
        if event["status"] != seen[-1]:
            seen.append(event["status"])
        if event["status"] == "SUCCEEDED":
            return event, seen
        if event["status"] == "FAILED":
            raise StackFailure(f"Event {event_id} failed.", str(event.get("error") or event.get("message")))
        time.sleep(0.02)
    raise StackFailure(f"Event {event_id} was still {seen[-1]} after {_EVENT_SECONDS:.0f} s.", "See the logs above.")


def _way(number: int, messages: int, event: dict[str, Any], seen: list[str]) -> str:
    """One line: how the event came to its end. RUNNING can pass between two polls; `started_at` shows that it was."""
    accepted, started, ended = (_time(event[name]) for name in ("created_at", "started_at", "completed_at"))
    steps = ["PENDING"]
    if started or "RUNNING" in seen:
        steps.append(f"RUNNING after {_ms(accepted, started)}")
    steps.append(f"SUCCEEDED after {_ms(accepted, ended)}")
    way = " → ".join(steps)
    return f"  session {number}: {messages} messages  {way}  {len(event['results'])} memories"


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _ms(earlier: datetime | None, later: datetime | None) -> str:
    return f"{(later - earlier).total_seconds() * 1000:.0f} ms" if earlier and later else "?"


def _note(event: dict[str, Any], times: Times) -> None:
    accepted, started = _time(event["created_at"]), _time(event["started_at"])
    if accepted and started:
        times.waiting.append((started - accepted).total_seconds())
    for stage, milliseconds in (event["usage"].get("stages_ms") or {}).items():
        times.stages[stage] += milliseconds / 1000


def _ask(client: httpx.Client, conversation: Conversation, console: Console, times: Times) -> None:
    console.rule("Searching")
    for question in conversation.questions:
        body = {"query": question, "filters": {"user_id": conversation.user_id}, "top_k": _SHOWN_HITS}
        if question in GENERAL_QUESTIONS:
            body["threshold"] = 0  # they suit any conversation and match none: show what is nearest
        began = time.perf_counter()
        answer = client.post("/v3/memories/search/", json=body)
        seconds = time.perf_counter() - began
        answer.raise_for_status()
        times.searches.append(seconds)
        for stage, took in _server_timing(answer.headers.get("Server-Timing", "")):
            times.search_stages[stage].append(took)
        console.print(f"\n{question}   ({seconds * 1000:.0f} ms)", markup=False)
        hits = answer.json()["results"]
        for hit in hits:
            console.print(f"  {hit['score']:.2f}  {hit['memory']}  {_breakdown(hit)}", markup=False)
        if not hits:
            console.print("  nothing found")


def _server_timing(header: str) -> Iterator[tuple[str, float]]:
    """(stage, seconds) of a Server-Timing header: `embed;dur=4.1, recall;dur=2.0`, milliseconds."""
    for entry in filter(None, header.split(",")):
        name, _, duration = entry.strip().partition(";dur=")
        if duration:
            yield name, float(duration) / 1000


def _breakdown(hit: dict[str, Any]) -> str:
    parts = {name: value for name, value in (hit.get("score_breakdown") or {}).items() if value}
    return "(" + ", ".join(f"{name} {value:.2f}" for name, value in parts.items()) + ")" if parts else ""


def _show_times(console: Console, times: Times) -> None:
    console.rule("Where the time went")
    table = Table(box=None, show_header=False)
    table.add_row("Starting the stack", f"{times.start:.1f} s")
    table.add_row("Accepting an add (median)", f"{median(times.accepts) * 1000:.1f} ms")
    if times.waiting:
        table.add_row("An event's wait for its worker (median)", f"{median(times.waiting) * 1000:.0f} ms")
    for stage, seconds in times.stages.items():
        table.add_row(f"Workers: {stage} (all events)", f"{seconds * 1000:.0f} ms")
    table.add_row("Search (median)", f"{median(times.searches) * 1000:.1f} ms")
    for stage, took in times.search_stages.items():
        table.add_row(f"  of it: {stage}", f"{median(took) * 1000:.1f} ms")
    console.print(table)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
