"""The API's entry point: `uvicorn --factory api.main:app_factory`."""

from __future__ import annotations

import os

from fastapi import FastAPI

from api.app import create_app
from core.adapters.collector import calm_collector
from core.adapters.metrics import Metrics
from core.adapters.telemetry import SignalTelemetry, configure_logging
from core.container import build
from core.settings import Settings


def app_factory() -> FastAPI:
    """Composes the process from the environment. Raises SettingsError for what is missing.

    The app closes the container when the server stops it.
    """
    settings = Settings()
    telemetry = SignalTelemetry(configure_logging(settings.log_level, settings.log_format), Metrics())
    container = build(settings, telemetry, threads=settings.api_threads)
    app = create_app(container)
    calm_collector()
    app.state.on_stop = container.close
    telemetry.emit("process", part="api", change="started", pid=os.getpid())
    return app
