"""What services are handed: the ports, wired by the composition root, and the limits they work within."""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field

from core.ports.database import Database
from core.ports.extraction import Extractor
from core.ports.index import VectorIndex
from core.ports.models import ModelSet
from core.ports.runtime import Clock, Telemetry, WorkQueue
from core.services.collections import CollectionRegistry
from core.services.crash_points import CrashPoints
from core.services.pressure import Pressure
from core.services.project_settings import ProjectSettings


@dataclass(frozen=True)
class Limits:
    """Seconds where times are meant; see core/settings.py for what each means to an operator."""

    lease_seconds: float = 30.0
    max_crashes: int = 3
    max_event_age: float = 86_400.0
    max_open_events: int = 10_000
    window_tokens: int = 6_000
    max_windows: int = 64
    turn_events: int = 16
    context_messages: int = 10
    context_memories: int = 10
    input_tries: int = 3
    input_age: float = 120.0
    fetch_urls: bool = False
    synthesis_seconds: float = 86_400.0


def _aside() -> Executor:
    """Its threads are made when needed, and end with the process."""
    return ThreadPoolExecutor(8, thread_name_prefix="aside")


@dataclass(frozen=True)
class Runtime:
    database: Database
    index: VectorIndex
    models: ModelSet
    extractor: Extractor
    queue: WorkQueue
    telemetry: Telemetry
    clock: Clock
    collections: CollectionRegistry
    pressure: Pressure | None = None
    projects: ProjectSettings = field(default_factory=ProjectSettings)
    limits: Limits = field(default_factory=Limits)
    crash: CrashPoints = field(default_factory=CrashPoints)
    aside: Executor = field(default_factory=_aside)  # embeds queries beside their recall by words
