"""Settings, from the environment. Only the composition root and the entry points read them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

REDIS_SCHEMES = ("redis://", "rediss://", "unix://")


class Settings(BaseSettings):
    """Every field is MEMLANE_<NAME>. `memlane settings` prints them with secrets masked."""

    model_config = SettingsConfigDict(env_prefix="MEMLANE_", env_ignore_empty=True, extra="ignore")

    home: Path = Field(Path(".memlane"), description="Data folder of the local stack.")
    host: str = Field("127.0.0.1", description="Address the API listens on.")
    port: int = Field(8765, ge=0, le=65535, description="Port the API listens on; 0 picks a free one.")
    api_key: SecretStr | None = Field(None, description="Bootstrap key of the first project.")
    flower_port: int = Field(5555, ge=0, le=65535, description="Flower's port; 0 turns it off.")
    flower_password: SecretStr | None = Field(None, description="Basic-auth password of Flower (user memlane).")

    database_url: SecretStr | None = Field(None, description="PostgreSQL 15 or newer; unset = embedded.")
    broker_url: SecretStr | None = Field(None, description="Redis, Valkey or RabbitMQ; unset = embedded Valkey.")
    redis_url: SecretStr | None = Field(
        None, description="Redis or Valkey that counts rate limits; unset = the broker, if it is one."
    )
    qdrant_url: str | None = Field(None, description="Qdrant; unset = the local endpoint.")
    qdrant_api_key: SecretStr | None = Field(None, description="Key of Qdrant.")
    collection: str = Field("memlane", description="Prefix of collection names in Qdrant.")

    llm_base_url: str | None = Field(
        None,
        validation_alias=AliasChoices("MEMLANE_LLM_BASE_URL", "OPENAI_BASE_URL"),
        description="OpenAI-compatible chat endpoint; unset with no key = rule-based extractor.",
    )
    llm_api_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("MEMLANE_LLM_API_KEY", "OPENAI_API_KEY"),
        description="Key of the chat endpoint.",
    )
    llm_model: str = Field("gpt-5-mini", description="Chat model.")
    llm_timeout: float = Field(60.0, gt=0, description="Total deadline of one chat call, seconds.")
    llm_window_tokens: int = Field(6000, ge=256, description="Longest window of conversation in one call.")
    embedder_base_url: str | None = Field(
        None, description="OpenAI-compatible embeddings endpoint; unset = built-in multilingual-e5-small."
    )
    embedder_api_key: SecretStr | None = Field(None, description="Key of the embeddings endpoint.")
    embedder_model: str = Field("text-embedding-3-small", description="Embedding model of that endpoint.")
    embedder_dims: int | None = Field(None, ge=1, description="Dimensions; unset = probed.")
    embedder_timeout: float = Field(30.0, gt=0, description="Total deadline of one embeddings call, seconds.")
    rerank_base_url: str | None = Field(None, description="Cohere-shaped /rerank endpoint.")
    rerank_api_key: SecretStr | None = Field(None, description="Key of the rerank endpoint.")
    rerank_model: str | None = Field(
        None, description="Rerank model; unset = `rerank` of the endpoint, the chat model, or bge-reranker-base."
    )
    reranker: Literal["endpoint", "chat", "local"] | None = Field(
        None,
        description="Who reranks: endpoint, chat (the chat model) or local; unset = the endpoint, where one is set.",
    )
    rerank_timeout: float = Field(
        10.0, gt=0, description="Total deadline of one call to the endpoint or the chat model, seconds."
    )
    models: str | None = Field(
        None, description="Models of your own, in process: module:function that makes a ModelSet; replaces the above."
    )
    fetch_urls: bool = Field(False, description="Fetch remote URLs in message parts.")

    synthesis_hours: float = Field(
        24.0, gt=0, description="Pause between looks for patterns, where a project wants them."
    )

    workers: int = Field(1, ge=0, le=64, description="Ingest worker processes.")
    worker_concurrency: int = Field(4, ge=1, le=256, description="Threads of each ingest worker.")
    lease_seconds: float = Field(30.0, gt=0, description="Lane lease.")
    call_grace_seconds: float = Field(
        30.0, gt=0, description="A worker whose call is this much past its deadline is ended and started again."
    )
    sweep_seconds: float = Field(2.0, ge=0, description="Sweep period; 0 switches the sweep off (tests only).")
    max_crashes: int = Field(3, ge=1, description="Lost workers before an add fails as worker_lost.")
    max_event_age: float = Field(86400.0, gt=0, description="Longest time an event is retried, seconds.")
    max_open_events: int = Field(10_000, ge=1, description="Open events of a project before 429.")
    api_threads: int = Field(16, ge=2, le=256, description="Threads (and database connections) of one API process.")
    max_body_bytes: int = Field(2 * 1024 * 1024, ge=1024, description="Largest request body.")
    rate_limit_per_minute: int = Field(6000, ge=0, description="Requests a minute per key; 0 = unlimited.")
    search_permits: int = Field(8, ge=1, description="Searches at once in one API process.")
    strict_scoping: bool = Field(True, description="Entity fields a filter leaves out must be null.")
    webhook_allow_private: Literal["none", "loopback", "private"] = Field(
        "none", description="Which non-public addresses webhooks may call: none, loopback or private."
    )
    webhook_retry_schedule: str = Field(
        "0,5,300,1800,7200,18000,36000,36000", description="Delay before each try of a delivery, seconds."
    )
    secret_key: SecretStr | None = Field(None, description="Encrypts webhook secrets at rest.")

    metrics_port: int = Field(
        0, ge=0, le=65535, description="Port on which a worker serves its Prometheus metrics; 0 = off."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Quietest level logged.")
    log_format: Literal["json", "console"] = Field("json", description="json, or console for people.")
    crash_at: str | None = Field(None, description="Test only: name:n ends the process at that crash point.")

    @field_validator("database_url")
    @classmethod
    def _psycopg_dialect(cls, value: SecretStr | None) -> SecretStr | None:
        """Accept the usual spellings; SQLAlchemy needs the driver named."""
        if value is None:
            return None
        url = value.get_secret_value()
        for prefix in ("postgresql://", "postgres://"):
            if url.startswith(prefix):
                return SecretStr("postgresql+psycopg://" + url.removeprefix(prefix))
        return value

    @property
    def chat_configured(self) -> bool:
        return self.llm_base_url is not None or self.llm_api_key is not None
