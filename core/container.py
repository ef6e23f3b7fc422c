"""The composition root: the only place that chooses adapters, and the only reader of settings inside core."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from importlib import import_module
from uuid import UUID

from pydantic import SecretStr

from core.adapters.builtin_embedder import builtin_embedder
from core.adapters.celery_queue import CeleryQueue
from core.adapters.guarded_fetch import GuardedFetcher
from core.adapters.limits import LocalBuckets, RedisBuckets
from core.adapters.qdrant import QdrantIndex
from core.adapters.query_cache import CachedQueries
from core.adapters.secret_box import FernetBox
from core.adapters.sql.database import PoolOptions, SqlDatabase
from core.adapters.system_clock import SteadyClock, SystemClock
from core.domain.webhook_policy import parse_schedule
from core.ports.extraction import Extractor
from core.ports.identity import Authenticator
from core.ports.limits import Buckets
from core.ports.models import ChatModel, Embedder, ModelSet, Reranker
from core.ports.runtime import Telemetry
from core.services.authenticate import KeyAuthenticator
from core.services.breaker import Breakers
from core.services.calls import Calls, watched
from core.services.collections import CollectionRegistry
from core.services.crash_points import CrashPoints
from core.services.extract_rules import RuleExtractor
from core.services.guarded import GuardedChat, GuardedEmbedder
from core.services.pressure import Pressure
from core.services.rate_limit import SETTING, RateLimiter, limits_of
from core.services.reindex import Progress, Rebuild
from core.services.rerank_chat import ChatReranker
from core.services.runtime import Limits, Runtime
from core.services.webhooks import WebhookParts
from core.settings import REDIS_SCHEMES, Settings

_IN_PROCESS = 10
_INDEX_CALLS = {"ensure": 300.0, "upsert": 60.0, "delete": 60.0, "query": 30.0, "nearest": 30.0, "fetch": 60.0}


class SettingsError(Exception):
    """A setting is missing or contradicts another; the text says which and what to do."""


@dataclass(frozen=True)
class Container:
    """Everything a process of Memlane works with. `close` gives it all back."""

    settings: Settings
    runtime: Runtime
    database: SqlDatabase
    authenticator: Authenticator
    webhooks: WebhookParts
    limiter: RateLimiter
    calls: Calls = field(default_factory=Calls)

    @property
    def telemetry(self) -> Telemetry:
        return self.runtime.telemetry

    def close(self) -> None:
        self.runtime.aside.shutdown(cancel_futures=True)
        self.runtime.queue.close()
        self.limiter.close()
        self.database.close()


def build(settings: Settings, telemetry: Telemetry, *, threads: int, worker: bool = False) -> Container:
    """Wire a process that works with `threads` threads. Nothing is connected yet.

    Raises SettingsError.
    """
    idle = settings.lease_seconds / 2 if worker else 60.0
    database = SqlDatabase(
        _required(settings.database_url, "MEMLANE_DATABASE_URL"),
        PoolOptions(size=threads + 2, idle_in_transaction=idle),
    )
    index = _index(settings)
    clock = SystemClock()
    models = _models(settings, Breakers(SteadyClock().now), telemetry, searches=not worker)
    calls = Calls()
    if worker:
        index, models = watched(index, calls, _INDEX_CALLS), _watched_models(settings, models, calls)
    runtime = Runtime(
        database=database,
        index=index,
        models=models,
        extractor=_extractor(settings, models),
        queue=CeleryQueue(_required(settings.broker_url, "MEMLANE_BROKER_URL"), telemetry),
        telemetry=telemetry,
        clock=clock,
        collections=CollectionRegistry(database, index, models.embedder, settings.collection),
        pressure=Pressure(database, settings.max_open_events),
        limits=_limits(settings),
        crash=CrashPoints(settings.crash_at),
        aside=ThreadPoolExecutor(settings.search_permits, thread_name_prefix="aside"),
    )
    limiter = _limiter(settings, runtime, LocalBuckets() if worker else _buckets(settings, telemetry))
    return Container(
        settings, runtime, database, KeyAuthenticator(database, telemetry), _webhooks(settings), limiter, calls
    )


def _index(settings: Settings, **more: int) -> QdrantIndex:
    if settings.qdrant_url is None:
        raise SettingsError("MEMLANE_QDRANT_URL is not set; `memlane up` sets it for the local stack")
    return QdrantIndex(settings.qdrant_url, _secret(settings.qdrant_api_key), **more)


def _buckets(settings: Settings, telemetry: Telemetry) -> Buckets:
    """In Redis where one is named, or where the broker is one; else each process counts for itself, and says so.

    Raises SettingsError.
    """
    own = _secret(settings.redis_url)
    if own and not own.startswith(REDIS_SCHEMES):
        raise SettingsError(f"MEMLANE_REDIS_URL must start with {', '.join(REDIS_SCHEMES)}")
    url = own or _secret(settings.broker_url) or ""
    if url.startswith(REDIS_SCHEMES):
        return RedisBuckets(url, telemetry)
    telemetry.emit("process", part="limits", change="counted_alone", detail="no Redis is configured")
    return LocalBuckets()


def _limiter(settings: Settings, runtime: Runtime, buckets: Buckets) -> RateLimiter:
    def own(project_id: UUID) -> object:
        return runtime.projects.settings(runtime.database, project_id).get(SETTING)

    return RateLimiter(buckets, limits_of(own, settings.rate_limit_per_minute))


def _watched_models(settings: Settings, models: ModelSet, calls: Calls) -> ModelSet:
    """Endpoints keep their deadlines themselves, as a rule; what computes in process is given ten times as long."""
    own = settings.models is not None
    embedding = settings.embedder_timeout * (_IN_PROCESS if own or settings.embedder_base_url is None else 2)
    chat = models.chat and watched(
        models.chat, calls, {"complete": settings.llm_timeout * (_IN_PROCESS if own else 1)}
    )
    embedder = watched(models.embedder, calls, {"embed_passages": embedding, "embed_query": embedding})
    return replace(models, embedder=embedder, chat=chat)


def rebuild_parts(
    settings: Settings, telemetry: Telemetry, tell: Callable[[Progress], None], *, embed: bool
) -> Rebuild:
    """What `memlane reindex` works with; no embedder is made unless vectors are to be made anew.

    Raises SettingsError. The caller closes the database.
    """
    return Rebuild(
        database=SqlDatabase(_required(settings.database_url, "MEMLANE_DATABASE_URL")),
        index=_index(settings, timeout=30),
        prefix=settings.collection,
        embedder=_models(settings, Breakers(SteadyClock().now), telemetry, searches=False).embedder
        if embed
        else None,
        tell=tell,
        crash=CrashPoints(settings.crash_at),
    )


def _webhooks(settings: Settings) -> WebhookParts:
    key = _secret(settings.secret_key)
    try:
        schedule = parse_schedule(settings.webhook_retry_schedule)
    except ValueError as error:
        raise SettingsError(f"MEMLANE_WEBHOOK_RETRY_SCHEDULE: {error}") from error
    box = FernetBox(key) if key else None
    return WebhookParts(box, GuardedFetcher(), settings.webhook_allow_private, schedule)


def _required(value: SecretStr | None, name: str) -> str:
    text = _secret(value)
    if not text:
        raise SettingsError(f"{name} is not set; `memlane up` sets it for the local stack")
    return text


def _secret(value: SecretStr | None) -> str | None:
    return value.get_secret_value() if value is not None else None


def _models(settings: Settings, breakers: Breakers, telemetry: Telemetry, *, searches: bool = True) -> ModelSet:
    if settings.models is not None:
        return _own_models(settings.models)
    chat = _chat(settings, breakers, telemetry, settings.llm_model, settings.llm_timeout)
    reranker = _reranker(settings, breakers, telemetry) if searches else None
    return ModelSet(CachedQueries(_embedder(settings, breakers, telemetry)), chat, reranker)


def _chat(
    settings: Settings, breakers: Breakers, telemetry: Telemetry, model: str, timeout: float
) -> ChatModel | None:
    if not settings.chat_configured:
        return None
    from core.adapters.openai_chat import OpenAIChat  # the library takes most of a second to import

    called = OpenAIChat(
        model=model, base_url=settings.llm_base_url, api_key=_secret(settings.llm_api_key), timeout=timeout
    )
    breaker = breakers.of(f"chat {settings.llm_base_url} {model} {timeout:g}")
    return GuardedChat(called, breaker, telemetry)


def _reranker(settings: Settings, breakers: Breakers, telemetry: Telemetry) -> Reranker | None:
    kind = settings.reranker or ("endpoint" if settings.rerank_base_url else None)
    if kind == "local":
        from core.adapters.rerank_fastembed import DEFAULT_MODEL, FastEmbedReranker

        return FastEmbedReranker(settings.rerank_model or DEFAULT_MODEL)
    if kind == "chat":
        model = settings.rerank_model or settings.llm_model
        chat = _chat(settings, breakers, telemetry, model, settings.rerank_timeout)
        if chat is None:
            raise SettingsError("MEMLANE_RERANKER=chat needs a chat model: set MEMLANE_LLM_BASE_URL")
        return ChatReranker(chat)
    if kind is None:
        return None
    if settings.rerank_base_url is None:
        raise SettingsError("MEMLANE_RERANKER=endpoint needs MEMLANE_RERANK_BASE_URL")
    from core.adapters.rerank_http import HttpReranker

    return HttpReranker(
        model=settings.rerank_model or "rerank",
        base_url=settings.rerank_base_url,
        api_key=_secret(settings.rerank_api_key),
        timeout=settings.rerank_timeout,
    )


def _own_models(place: str) -> ModelSet:
    """The models that `module:function` makes: whoever has a model of their own needs no HTTP endpoint around it."""
    module, _, function = place.partition(":")
    try:
        models = getattr(import_module(module), function)()
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingsError(f"MEMLANE_MODELS={place} cannot be used: {error}") from error
    if not isinstance(models, ModelSet):
        raise SettingsError(f"MEMLANE_MODELS={place} made a {type(models).__name__}, not a ModelSet")
    return ModelSet(CachedQueries(models.embedder), models.chat, models.reranker, models.names)


def _embedder(settings: Settings, breakers: Breakers, telemetry: Telemetry) -> Embedder:
    if settings.embedder_base_url is None:
        return builtin_embedder()
    from core.adapters.openai_embedder import OpenAIEmbedder

    called = OpenAIEmbedder(
        model=settings.embedder_model,
        base_url=settings.embedder_base_url,
        api_key=_secret(settings.embedder_api_key),
        dims=settings.embedder_dims,
        timeout=settings.embedder_timeout,
    )
    return GuardedEmbedder(called, breakers.of(f"embeddings {settings.embedder_base_url} {called.name}"), telemetry)


def _extractor(settings: Settings, models: ModelSet) -> Extractor:
    if models.chat is None:
        return RuleExtractor()
    from core.services.extract_model import ModelExtractor

    return ModelExtractor(models.chat, settings.llm_window_tokens)


def _limits(settings: Settings) -> Limits:
    return Limits(
        lease_seconds=settings.lease_seconds,
        max_crashes=settings.max_crashes,
        max_event_age=settings.max_event_age,
        max_open_events=settings.max_open_events,
        window_tokens=settings.llm_window_tokens,
        fetch_urls=settings.fetch_urls,
        synthesis_seconds=settings.synthesis_hours * 3_600,
    )
