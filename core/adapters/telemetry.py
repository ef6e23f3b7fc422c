"""Signals become one JSON line on stdout and one count in the metrics; the standard library's logging joins in.

`configure_logging` is called once by each entry point (API, worker, launcher parts); `SignalTelemetry` implements
the port that services emit to.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

import orjson
import structlog

from core.adapters.log_sink import LogSink
from core.adapters.metrics import Metrics
from core.adapters.redaction import describe_exception, redact_fields, redact_text
from core.domain.signals import Signal

Line = MutableMapping[str, Any]

# Their INFO lines repeat our own (addresses of every call); their warnings stay.
_CHATTY = ("httpx", "httpcore", "openai", "urllib3", "qdrant_client", "celery.worker.strategy", "celery.app.trace")
_OUTCOME_LEVELS = {"fail": "error", "failed": "error", "retry": "warning", "superseded": "warning", "error": "error"}
_OUTCOME_LEVELS |= {"deferred": "warning", "database_unavailable": "warning"}
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
_RESERVED = ("event", "timestamp", "level", "logger")


class SignalTelemetry:
    """Implements `core.ports.runtime.Telemetry`: never raises, never waits."""

    def __init__(self, writer: LineWriter, metrics: Metrics | None = None) -> None:
        self._writer = writer
        self.metrics = metrics or Metrics()

    def emit(self, name: str, **fields: Any) -> None:
        try:
            self.metrics.count(name, fields)
            self._writer.write_line(_level_of(name, fields), name, fields)
        except Exception as error:  # noqa: BLE001  what is told about the work must never stop the work
            self._writer.write_line("error", "telemetry_failed", {"signal": name, "error_type": type(error).__name__})


class LineWriter:
    """Turns a record into one redacted line, JSON or for a console."""

    def __init__(self, sink: LogSink, level: str = "info", style: str = "json") -> None:
        self._sink = sink
        self._threshold = _LEVELS[level]
        self._render = _render_json if style == "json" else _console_renderer()
        self._stamp = structlog.processors.TimeStamper(fmt="iso", utc=True)

    def write_line(self, level: str, name: str, fields: dict[str, Any]) -> None:
        if _LEVELS.get(level, logging.INFO) < self._threshold:
            return
        line: Line = self._stamp(None, "", {"level": level, "event": name})
        line.update({(f"{key}_" if key in _RESERVED else key): value for key, value in redact_fields(fields).items()})
        self._sink.write(self._render(line))

    def flush(self, timeout: float = 2.0) -> bool:
        return self._sink.flush(timeout)


class StdlibHandler(logging.Handler):
    """Sends records of `logging` (uvicorn, Celery, libraries) down the same path, redacted the same way."""

    def __init__(self, writer: LineWriter) -> None:
        super().__init__()
        self._writer = writer

    def emit(self, record: logging.LogRecord) -> None:
        try:
            message = record.getMessage()
        except (TypeError, ValueError):  # a library's format string that does not fit its arguments
            message = str(record.msg)
        fields: dict[str, Any] = {"log": redact_text(message), "source": record.name}
        if record.exc_info and record.exc_info[1] is not None:
            fields["exception"] = describe_exception(record.exc_info)
        self._writer.write_line(_level_name(record.levelno), "log", fields)


def configure_logging(level: str = "info", style: str = "json", stream: TextIO | None = None) -> LineWriter:
    """Make `logging` and signals write to `stream` (default stdout); replaces what was configured before."""
    writer = LineWriter(LogSink(stream or sys.stdout), level, style)
    root = logging.getLogger()
    for handler in list(root.handlers):
        root.removeHandler(handler)
    root.addHandler(StdlibHandler(writer))
    root.setLevel(_LEVELS[level])
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    return writer


def _level_of(name: str, fields: dict[str, Any]) -> str:
    """How loud a signal is follows from what it tells, so that no caller has to choose."""
    status = fields.get("status")
    if name == Signal.REQUEST and isinstance(status, int):
        return "error" if status >= 500 and status != 503 else "warning" if status == 503 else "info"
    if name in (Signal.EVENT_ERROR, Signal.WAKE_FAILED, Signal.NOTE_LOST):
        return "warning"
    if name == Signal.SWEEP and not fields.get("found"):
        return "debug"
    return _OUTCOME_LEVELS.get(str(fields.get("outcome")), "info")


def _level_name(number: int) -> str:
    for name in ("error", "warning", "info"):
        if number >= _LEVELS[name]:
            return name
    return "debug"


def _render_json(line: Line) -> str:
    return orjson.dumps(line, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


def _console_renderer() -> Any:
    renderer = structlog.dev.ConsoleRenderer(colors=False)
    return lambda line: renderer(None, "", dict(line))
