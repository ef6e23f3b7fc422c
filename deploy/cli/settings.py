"""`memlane settings`."""

from __future__ import annotations

import os
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

if TYPE_CHECKING:
    from core.settings import Settings

MASK = "********"


def settings() -> None:
    """Print every setting that is in force, secrets masked, and check them. Exit code 1 when one is wrong.

    They are those of the running local stack of MEMLANE_HOME; where none runs, those of this shell.
    """
    from rich.table import Table

    from core.settings import Settings
    from deploy.cli.configuration import load_settings, take_running_stack
    from deploy.cli.printing import console
    from deploy.local.variables import names_of, unknown_variables

    stack = take_running_stack()
    found = load_settings()
    table = Table("Variable", "Value", "From", "Meaning", box=None, pad_edge=False)
    for name, field in Settings.model_fields.items():
        names = names_of(name, field)
        origin = _origin(names, stack.joined)
        table.add_row(" / ".join(names), shown(getattr(found, name)), origin, field.description or "")
    out = console()
    if stack.state is not None:
        out.print(stack.line, markup=False)
    out.print(table)
    unknown = unknown_variables(os.environ)
    problems = contradictions(found) + [f"{name} is not a setting (is it misspelt?)." for name in unknown]
    for problem in problems:
        out.print(f"! {problem}", markup=False)
    if problems:
        raise SystemExit(1)
    out.print("All settings are valid.")


def shown(value: Any) -> str:
    """Secrets, also those inside URLs, never appear."""
    from pydantic import SecretStr

    if value is None:
        return "–"
    if not isinstance(value, SecretStr):
        return without_password(str(value))
    secret = value.get_secret_value()
    return without_password(secret) if "://" in secret else MASK


def without_password(text: str) -> str:
    """The text with a URL's password masked; other text as it is."""
    if "://" not in text:
        return text
    parts = urlsplit(text)
    if parts.password is None:
        return text
    user, host = parts.username or "", parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{user}:{MASK}@{host}"))


def contradictions(found: Settings) -> list[str]:
    """Settings that are valid alone and wrong together."""
    from core.settings import REDIS_SCHEMES

    problems = []
    if found.llm_base_url and not found.llm_base_url.startswith(("http://", "https://")):
        problems.append("MEMLANE_LLM_BASE_URL must start with http:// or https://.")
    if found.qdrant_url and not found.qdrant_url.startswith(("http://", "https://")):
        problems.append("MEMLANE_QDRANT_URL must start with http:// or https://.")
    plain = found.qdrant_url is not None and found.qdrant_url.startswith("http://")
    if plain and found.qdrant_api_key and not inside(urlsplit(str(found.qdrant_url)).hostname or ""):
        problems.append("MEMLANE_QDRANT_API_KEY would go over the network unencrypted; use https://.")
    if found.sweep_seconds >= found.lease_seconds:
        problems.append("MEMLANE_SWEEP_SECONDS must be shorter than MEMLANE_LEASE_SECONDS.")
    database = found.database_url.get_secret_value() if found.database_url else None
    if database and not database.startswith("postgresql+psycopg://"):
        problems.append("MEMLANE_DATABASE_URL must be a postgresql:// URL; PostgreSQL is the only database.")
    broker = found.broker_url.get_secret_value() if found.broker_url else None
    if broker and not broker.startswith(("redis://", "rediss://", "amqp://", "amqps://")):
        problems.append("MEMLANE_BROKER_URL must start with redis://, rediss://, amqp:// or amqps://.")
    redis = found.redis_url.get_secret_value() if found.redis_url else None
    if redis and not redis.startswith(REDIS_SCHEMES):
        problems.append(f"MEMLANE_REDIS_URL must start with {', '.join(REDIS_SCHEMES)}; Valkey is spelled the same.")
    return problems


def inside(host: str) -> bool:
    """Is this host on the machine or in a private network: a name without dots (as Compose and Kubernetes give
    services), a cluster's own name, a loopback or private address?"""
    try:
        address = ip_address(host)
    except ValueError:
        return "." not in host or host.endswith((".svc", ".cluster.local", ".internal"))
    return address.is_loopback or address.is_private


def _origin(names: list[str], joined: bool) -> str:
    if not any(os.environ.get(each) for each in names):
        return "default"
    return "running stack" if joined else "environment"
