"""`memlane settings`."""

from __future__ import annotations

import os
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from core.settings import Settings

MASK = "********"


def settings() -> None:
    """Print every setting that is in force, secrets masked, and check them. Exit code 1 when one is wrong."""
    from rich.table import Table

    from core.settings import Settings
    from deploy.cli.configuration import load_settings
    from deploy.cli.printing import console

    found = load_settings()
    table = Table("Variable", "Value", "From", "Meaning", box=None, pad_edge=False)
    for name, field in Settings.model_fields.items():
        table.add_row(
            variable(name, field), shown(getattr(found, name)), _origin(name, field), field.description or ""
        )
    out = console()
    out.print(table)
    unknown = unknown_variables()
    problems = contradictions(found) + [f"{name} is not a setting (is it misspelt?)." for name in unknown]
    for problem in problems:
        out.print(f"! {problem}", markup=False)
    if problems:
        raise SystemExit(1)
    out.print("All settings are valid.")


def variable(name: str, field: FieldInfo) -> str:
    """The environment variables of a setting, the first one winning."""
    return " / ".join(_names(name, field))


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


def unknown_variables() -> list[str]:
    """MEMLANE_… variables of the environment that are no settings."""
    from core.settings import Settings

    known = {each for name, field in Settings.model_fields.items() for each in _names(name, field)}
    own = {"MEMLANE_LIFELINE_FD", "MEMLANE_REQUIRE", "MEMLANE_URL", "MEMLANE_WORKER_KIND"}
    return sorted(name for name in os.environ if name.startswith("MEMLANE_") and name not in known | own)


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


def _names(name: str, field: FieldInfo) -> list[str]:
    choices = getattr(field.validation_alias, "choices", None)
    return [str(choice) for choice in choices] if choices else [f"MEMLANE_{name.upper()}"]


def _origin(name: str, field: FieldInfo) -> str:
    return "environment" if any(os.environ.get(each) for each in _names(name, field)) else "default"
