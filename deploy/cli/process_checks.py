"""What `memlane doctor` says of our own processes: the API and the workers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from deploy.cli.check import TIMEOUT, Check, first_line

if TYPE_CHECKING:
    from core.settings import Settings
    from deploy.local.stack_state import StackState

_ALIVE = "SELECT kind, count(*) FROM heartbeats WHERE seen_at > now() - interval '10 s' GROUP BY kind ORDER BY kind"


def workers(connection: object) -> Check:
    """Both kinds must live: ingest workers make memories, webhooks workers deliver and do the upkeep."""
    import psycopg

    assert isinstance(connection, psycopg.Connection)
    try:
        alive = dict(connection.execute(_ALIVE).fetchall())
    except psycopg.errors.UndefinedTable:
        return Check("Workers", "broken", "no tables", "Run `memlane migrate`.")
    return alive_workers(alive)


def alive_workers(alive: Mapping[str, int]) -> Check:
    """What these processes, counted by kind, leave undone."""
    detail = ", ".join(f"{count} {kind}" for kind, count in alive.items()) or "none alive"
    if "ingest" not in alive:
        fix = "Adds are accepted and wait. Start `memlane worker --queues ingest`."
        return Check("Workers", "broken", f"{detail}; no ingest worker" if alive else detail, fix)
    if "webhooks" not in alive:
        fix = "Webhooks and upkeep wait. Start `memlane worker --queues webhooks,upkeep --name upkeep`."
        return Check("Workers", "warn", f"{detail}; no webhooks worker", fix)
    return Check("Workers", "ok", detail)


def api(settings: Settings, state: StackState | None) -> Check:
    """Asks /readyz. Of the running stack (`state`) the API must answer; elsewhere it may live on another host."""
    import httpx

    url = state.api_url if state else _configured(settings)
    try:
        with httpx.Client(timeout=TIMEOUT, trust_env=False) as client:  # of this host: never through a proxy
            answer = client.get(f"{url}/readyz")
            found = answer.json()
    except httpx.TimeoutException:
        return _silent(url, f"no answer within {TIMEOUT:g} s", state)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return _silent(url, first_line(error), state)
    except ValueError:
        return _silent(url, "what answers there is no Memlane", state)
    status = found.get("status") if isinstance(found, dict) else None
    if answer.status_code == 200 and status is not None:
        missing = ", ".join(found.get("degraded", []))
        return Check("API", "ok", f"{status} at {url}" + (f" (missing: {missing})" if missing else ""))
    if answer.status_code == 503 and status is not None:
        missing = ", ".join(found.get("degraded", []))
        return Check(
            "API", "broken", f"{status} at {url} (missing: {missing})", "See the lines of these parts below."
        )
    return _silent(url, "what answers there is no Memlane", state)


def _silent(url: str, problem: str, state: StackState | None) -> Check:
    detail = f"{url}: {problem}"
    if state is not None and not state.ready:
        return Check("API", "warn", f"{detail}; the stack is still starting", "Ask again in some seconds.")
    if state is not None:
        fix = f"See {state.home}/logs/api.log; stop `memlane up` (Ctrl-C) and start it again."
        return Check("API", "broken", detail, fix)
    if os.environ.get("MEMLANE_HOST") or os.environ.get("MEMLANE_PORT"):
        fix = "Start `memlane api`. Are MEMLANE_HOST and MEMLANE_PORT right? It may also run on another host."
        return Check("API", "warn", detail, fix)
    return Check("API", "off", f"none on this host ({detail})")


def _configured(settings: Settings) -> str:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)
    return f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"
