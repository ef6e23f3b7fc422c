"""What each child of the launcher gets beyond the launcher's own environment."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from core.services.issue_key import KEY_PREFIX
from core.settings import Settings
from deploy.local.secret_files import kept_secret, write_private


@dataclass(frozen=True)
class Addresses:
    """Of the embedded parts; None where a service from outside takes the part."""

    api_url: str
    database_url: str | None
    broker_url: str | None
    qdrant_url: str | None
    flower_port: int


def child_environment(settings: Settings, home: Path, addresses: Addresses) -> dict[str, str]:
    """Secrets that are not set are made once and kept in `home`, one file each."""
    port = addresses.api_url.rsplit(":", 1)[1]
    added = {
        "MEMLANE_HOME": str(home),
        "MEMLANE_PORT": port,
        "MEMLANE_API_KEY": _api_key(settings, home),
        "MEMLANE_FLOWER_PORT": str(addresses.flower_port),
        "MEMLANE_FLOWER_PASSWORD": _given(settings.flower_password) or kept_secret(home / "flower_password"),
        "MEMLANE_SECRET_KEY": _given(settings.secret_key) or kept_secret(home / "secret_key"),
        "MEMLANE_WEBHOOK_ALLOW_PRIVATE": os.environ.get("MEMLANE_WEBHOOK_ALLOW_PRIVATE") or "loopback",
        # Two embedders that spin on the same processors stall each other for seconds.
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS") or "1",
        "OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY") or "passive",
        "PYTHONUNBUFFERED": "1",
        "PROMETHEUS_MULTIPROC_DIR": _metrics_folder(home),
    }
    if addresses.database_url:
        added["MEMLANE_DATABASE_URL"] = addresses.database_url
    if addresses.broker_url:
        added["MEMLANE_BROKER_URL"] = addresses.broker_url
    redis = _redis_url(settings, addresses)
    if redis:
        added["MEMLANE_REDIS_URL"] = redis
    if addresses.qdrant_url:
        added["MEMLANE_QDRANT_URL"] = addresses.qdrant_url
        added["MEMLANE_QDRANT_API_KEY"] = kept_secret(home / "qdrant_api_key")
    return added


def _metrics_folder(home: Path) -> str:
    """Where all processes of the stack count together, so that the API's /metrics shows the workers too."""
    folder = home / "metrics"
    shutil.rmtree(folder, ignore_errors=True)  # counters begin anew with the stack
    folder.mkdir(mode=0o700)
    return str(folder)


def _api_key(settings: Settings, home: Path) -> str:
    """The given key is kept too, so that $MEMLANE_HOME/api_key always holds the one that works."""
    given = _given(settings.api_key)
    if given:
        write_private(home / "api_key", given + "\n")
        return given
    return kept_secret(home / "api_key", KEY_PREFIX)


def _redis_url(settings: Settings, addresses: Addresses) -> str | None:
    """Limits and caches go to the broker where that speaks Redis; database 1 of our own Valkey."""
    if settings.redis_url:
        return settings.redis_url.get_secret_value()
    if addresses.broker_url:
        return addresses.broker_url.removesuffix("/0") + "/1"
    broker = _given(settings.broker_url) or ""
    return broker if broker.startswith(("redis://", "rediss://", "unix://")) else None


def _given(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret is not None else None
