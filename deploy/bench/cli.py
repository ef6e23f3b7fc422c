"""The commands of `memlane bench`."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from deploy.bench import ack as ack_bench
from deploy.bench import drain as drain_bench
from deploy.bench import extract as extract_bench
from deploy.bench import locomo as locomo_bench
from deploy.bench import locomo_peer
from deploy.bench import search_speed as search_bench
from deploy.bench.client import BenchError, Memlane
from deploy.bench.console import errors, progress, tell, told_errors, typed_command
from deploy.bench.extract_cases import read_cases
from deploy.bench.extractors import Endpoint, by_model, by_rules
from deploy.bench.locomo_data import read_conversations
from deploy.bench.locomo_load import Progress as Loading
from deploy.bench.open_loop import Schedule
from deploy.bench.target import running


class PeerName(StrEnum):
    """What else can be measured in the same run."""

    MEM0 = "mem0"


app = typer.Typer(
    name="bench",
    help="Measure a running Memlane, or a temporary local stack that is started when no --url is given.",
    no_args_is_help=True,
)

Url = Annotated[str | None, typer.Option("--url", envvar="MEMLANE_URL", help="Server to measure.")]
Key = Annotated[str | None, typer.Option("--api-key", envvar="MEMLANE_API_KEY", help="API key of that server.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown, for docs/benchmarks.md.")]
Peer = Annotated[
    PeerName | None, typer.Option("--peer", help="Measure this too, on the same memories and questions.")
]
Json = Annotated[Path | None, typer.Option("--json", help="Also write every sample to this file.")]


@app.command()
def locomo(
    file: Annotated[Path, typer.Argument(help="LoCoMo conversations, as JSON.")],
    infer: Annotated[bool, typer.Option("--infer", help="Go through extraction, one add per session.")] = False,
    limit_conversations: Annotated[int | None, typer.Option(min=1, help="Only the first N.")] = None,
    top_k: Annotated[int, typer.Option(min=20, max=1000, help="Results asked for.")] = 50,
    peer: Peer = None,
    url: Url = None,
    api_key: Key = None,
    markdown: Markdown = False,
    json: Json = None,
) -> None:
    """Evidence recall over real conversations, with what was stored and how long it took."""
    with told_errors():
        plan = locomo_bench.Plan(read_conversations(file, limit_conversations), infer, top_k)
        with running(url, api_key) as target, Memlane(target.url, target.api_key) as client:
            client.ping()
            plan = plan if target.own else replace(plan, prefix=f"bench-{secrets.token_hex(4)}-")
            with progress() as bars:
                run = locomo_bench.run(client, plan, *_locomo_bars(bars, plan))
            if not target.own:
                for one in run.loaded:
                    client.forget(one.user_id)
        report = locomo_bench.report(run, plan, typed_command())
        try:
            if peer:
                errors.print("mem0: the same turns, the same questions …")
                locomo_peer.add_to(report, run, plan)
        finally:  # a peer that fails takes nothing along
            tell(report, markdown, json, locomo_bench.details(run))


@app.command()
def ack(
    rate: Annotated[float, typer.Option(min=1, max=5000, help="Adds a second.")] = 100,
    seconds: Annotated[float, typer.Option(min=1, max=600, help="How long.")] = 30,
    find_saturation: Annotated[bool, typer.Option("--saturation/--no-saturation", help="Step the rate up.")] = True,
    url: Url = None,
    api_key: Key = None,
    markdown: Markdown = False,
    json: Json = None,
) -> None:
    """How fast adds are accepted, in open loop: with workers idle, and with workers draining."""
    run, schedule = ack_bench.AckRun(), Schedule(rate, seconds)
    arms = {"as they are": {}} if url else {"idle": {"MEMLANE_WORKERS": "0"}, "draining": {"MEMLANE_WORKERS": "1"}}
    with told_errors():
        for name, settings in arms.items():
            with running(url, api_key, settings) as target:
                errors.print(f"workers {name}: {schedule.count} adds at {rate:g}/s …")
                label = f"bench-{secrets.token_hex(4)}"
                arm = ack_bench.measure(target, name, schedule, label)
                if find_saturation:
                    arm = replace(arm, saturation=ack_bench.saturation(target, label, rate, errors.print))
                run.arms.append(arm)
        samples = {arm.name: [sample.latency_ms for sample in arm.samples] for arm in run.arms}
        tell(ack_bench.report(run, typed_command()), markdown, json, {"latency_ms": samples})


@app.command()
def drain(
    events: Annotated[int, typer.Option(min=10, max=100_000, help="Adds to accept and then finish.")] = 3_000,
    lanes: Annotated[int, typer.Option(min=1, help="Users they are spread over.")] = 100,
    workers: Annotated[int, typer.Option(min=1, max=16, help="Worker processes, of four threads each.")] = 2,
    markdown: Markdown = False,
    json: Json = None,
) -> None:
    """How fast workers finish events, with models that cost nothing. Always on a temporary stack of its own."""
    drained = []
    with told_errors():
        for kind in drain_bench.MODELS:
            load = drain_bench.Load(kind, events, lanes)
            with running(None, None, load.settings()) as target, Memlane(target.url, target.api_key) as client:
                errors.print(f"{kind}: {events} events, {workers} workers …")
                drained.append(drain_bench.measure(target, client, load, workers))
        quiet = {one.load.kind: one.quiet_ms for one in drained}
        tell(drain_bench.report(drained, typed_command()), markdown, json, {"quiet_ms": quiet})


@app.command()
def search(
    memories: Annotated[int, typer.Option(min=1_000, max=1_000_000, help="Memories to search among.")] = 20_000,
    users: Annotated[int, typer.Option(min=1, help="Users they are spread over.")] = 100,
    queries: Annotated[int, typer.Option(min=20, max=10_000, help="Searches of each kind.")] = 300,
    peer: Peer = None,
    url: Url = None,
    api_key: Key = None,
    markdown: Markdown = False,
    json: Json = None,
) -> None:
    """How long searches take over many memories, idle and while workers drain."""
    with told_errors():
        plan = search_bench.Plan(memories, users, queries)
        with running(url, api_key) as target, Memlane(target.url, target.api_key) as client:
            client.ping()
            plan = plan if target.own else replace(plan, prefix=f"bench-{secrets.token_hex(4)}-")
            with progress() as bars:
                task = bars.add_task("loaded", total=memories)
                run = search_bench.run(client, plan, lambda number: bars.advance(task, number), errors.print)
            if not target.own:
                for user in range(users):
                    client.forget(f"{plan.prefix}{user}")
        times = {"idle": run.idle, "draining": run.draining}
        details = {name: [answer.total_ms for answer in one.answers] for name, one in times.items()}
        try:
            if peer:
                run.peer = search_bench.ask_peer(run)
        finally:  # a peer that fails takes nothing along
            tell(search_bench.report(run, typed_command()), markdown, json, details)


@app.command()
def extract(
    model: Annotated[str | None, typer.Option(help="Chat model to ask.", envvar="MEMLANE_LLM_MODEL")] = None,
    base_url: Annotated[
        str | None,
        typer.Option(help="Its OpenAI-compatible endpoint.", envvar=["MEMLANE_LLM_BASE_URL", "OPENAI_BASE_URL"]),
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(help="Key of that endpoint.", envvar=["MEMLANE_LLM_API_KEY", "OPENAI_API_KEY"])
    ] = None,
    rules: Annotated[bool, typer.Option("--rules", help="The built-in rules instead of a model.")] = False,
    only: Annotated[str, typer.Option(help="Only cases whose name begins so: zh, en-date.")] = "",
    timeout: Annotated[float, typer.Option(min=1, max=3600, help="Deadline of one call, seconds.")] = 60.0,
    max_tokens: Annotated[int, typer.Option(min=16, max=65_536, help="Longest answer.")] = 4_096,
    out: Annotated[
        Path | None, typer.Option("--out", help="Also write the report to this file, as Markdown.")
    ] = None,
    markdown: Markdown = False,
    json: Json = None,
) -> None:
    """How well a chat model extracts: hand-written cases in six languages through the product's own pipeline."""
    with told_errors():
        cases = read_cases(only=only)
        if not cases:
            raise BenchError(f"no case begins with {only!r}")
        if not rules and model is None:
            raise BenchError("--model names the chat model to ask (or --rules for the built-in rules)")
        endpoint = Endpoint(model or "", base_url, api_key, timeout, max_tokens)
        with by_rules() if rules else by_model(endpoint) as (name, extractor, counting):
            whole = extract_bench.run(name, extractor, counting, cases, _told_case)
        report = extract_bench.report(whole, typed_command())
        tell(report, markdown, json, extract_bench.details(whole))
        if out is not None:
            out.write_text(report.markdown(), encoding="utf-8")


def _told_case(one: extract_bench.CaseRun) -> None:
    found = f"{one.judged.found}/{len(one.case.facts)} facts, {len(one.judged.stored)} stored"
    errors.print(f"{one.case.name}: {found}, {one.seconds:.1f} s, {one.ended}", highlight=False)


def _locomo_bars(bars: Progress, plan: locomo_bench.Plan) -> tuple[Loading, Callable[[int], None]]:
    parts = [len(one.sessions) if plan.infer else len(one.turns) for one in plan.conversations]
    questions = sum(bool(question.evidence) for one in plan.conversations for question in one.questions)
    accepted = bars.add_task("accepted", total=sum(parts))
    ended = bars.add_task("ended", total=sum(parts))
    searched = bars.add_task("searched", total=questions)
    loading = Loading(lambda number: bars.advance(accepted, number), lambda number: bars.advance(ended, number))
    return loading, lambda number: bars.advance(searched, number)
