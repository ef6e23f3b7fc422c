"""Signals become log lines and counts; secrets and memory text become neither."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from core.adapters.log_sink import LogSink
from core.adapters.metrics import Metrics, Reading
from core.adapters.redaction import redact_fields, redact_text
from core.adapters.telemetry import LineWriter, SignalTelemetry, configure_logging
from core.domain.errors import MemlaneError
from deploy.local.ports import free_port
from tests.stack import ROOT


@pytest.fixture
def out() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def telemetry(out: io.StringIO) -> SignalTelemetry:
    return SignalTelemetry(LineWriter(LogSink(out), "debug"))


def lines(telemetry: SignalTelemetry, out: io.StringIO) -> list[dict[str, Any]]:
    assert telemetry._writer.flush()
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_an_attempt_is_one_wide_line_and_is_counted(telemetry: SignalTelemetry, out: io.StringIO) -> None:
    telemetry.emit(
        "event_attempt",
        event_id="e1",
        outcome="done",
        ms=12.0,
        latency_ms=40.0,
        stages={"embed": 8.0},
        outcomes={"added": 2, "filtered": 1},
    )
    (line,) = lines(telemetry, out)
    assert (line["event"], line["level"], line["event_id"], line["stages"]) == (
        "event_attempt",
        "info",
        "e1",
        {"embed": 8.0},
    )
    page = telemetry.metrics.render().decode()
    assert 'memlane_event_attempts_total{code="",outcome="done"} 1.0' in page
    assert 'memlane_candidates_total{outcome="added"} 2.0' in page
    assert 'memlane_stage_seconds_count{signal="event_attempt",stage="embed"} 1.0' in page
    assert "memlane_event_latency_seconds_sum 0.04" in page


@pytest.mark.parametrize(
    ("fields", "level"),
    [
        ({"name": "request", "status": 200}, "info"),
        ({"name": "request", "status": 404}, "info"),
        ({"name": "request", "status": 503}, "warning"),
        ({"name": "request", "status": 500}, "error"),
        ({"name": "event_attempt", "outcome": "retry"}, "warning"),
        ({"name": "event_attempt", "outcome": "fail"}, "error"),
        ({"name": "event_error", "code": "internal"}, "warning"),
        ({"name": "note_lost", "what": "key_use"}, "warning"),
        ({"name": "projection", "outcome": "deferred"}, "warning"),
        ({"name": "sweep", "found": 0}, "debug"),
    ],
)
def test_the_level_follows_from_what_is_told(
    telemetry: SignalTelemetry, out: io.StringIO, fields: dict[str, Any], level: str
) -> None:
    telemetry.emit(**fields)
    assert lines(telemetry, out)[0]["level"] == level


def test_a_signal_that_cannot_be_counted_is_reported_and_does_not_raise(
    telemetry: SignalTelemetry, out: io.StringIO
) -> None:
    telemetry.emit("search", stages=["not a mapping"])
    assert lines(telemetry, out)[0]["event"] == "telemetry_failed"


def test_memory_text_and_secrets_never_reach_the_line(telemetry: SignalTelemetry, out: io.StringIO) -> None:
    telemetry.emit(
        "accept",
        memory="my locker is B17",
        messages=3,
        nested={"content": "my locker is B17", "items": [{"text": "B17"}]},
        authorization="Token abcdef123456",
        api_key="plain",
        note="sent Token abcdef123456 to redis://:hunter2@127.0.0.1:6379 with whsec_c2VjcmV0c2VjcmV0",
        vector=b"1234",
    )
    told = out.getvalue() if telemetry._writer.flush() else ""
    for secret in ("B17", "abcdef123456", "plain", "hunter2", "c2VjcmV0"):
        assert secret not in told
    (line,) = lines(telemetry, out)
    assert line["messages"] == 3
    assert line["memory"] == "[16 characters]"


def test_exceptions_are_told_by_type_and_place_not_by_message(out: io.StringIO) -> None:
    writer = LineWriter(LogSink(out))
    try:
        int("my locker is B17")
    except ValueError as error:
        writer.write_line("error", "log", {"error": error})
    try:
        raise MemlaneError("embedding_failed", "refused 'my locker is B17'")
    except MemlaneError as error:
        writer.write_line("error", "log", {"error": error})
    assert writer.flush()
    first, second = (json.loads(line)["error"] for line in out.getvalue().splitlines())
    assert "B17" not in out.getvalue()
    assert first["type"] == "builtins.ValueError"
    assert "test_exceptions_are_told" in first["frames"][-1]
    assert second["message"] == "embedding_failed"


def test_deep_and_long_values_are_cut() -> None:
    nested: dict[str, Any] = {}
    for _ in range(10):
        nested = {"in": nested}
    assert "[…]" in json.dumps(redact_fields(nested), ensure_ascii=False)
    assert len(redact_text("x" * 5_000)) < 600


def test_the_standard_library_logs_down_the_same_path(out: io.StringIO) -> None:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    try:
        writer = configure_logging("info", "json", out)
        logging.getLogger("some.library").warning("connecting to postgresql://me:pw123@db/x")
        logging.getLogger("httpx").info("HTTP Request: every one of them")
        assert writer.flush()
    finally:
        root.handlers[:] = before
        root.setLevel(level)
    (line,) = [json.loads(text) for text in out.getvalue().splitlines()]
    assert line["source"] == "some.library"
    assert "pw123" not in line["log"]


def test_a_closed_pipe_costs_lines_and_nothing_else() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stream:
        sink = LogSink(stream)
        sink.write("nobody reads this")
        assert sink.flush()
        assert sink.dropped == 1
        stream_closes_quietly(stream)


def stream_closes_quietly(stream: Any) -> None:
    """Give the buffered rest a file to go to, so that closing does not raise for the pipe again."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def test_a_reader_that_stalls_never_blocks_the_writer() -> None:
    gate = threading.Event()

    class Stalled(io.StringIO):
        def write(self, text: str) -> int:
            gate.wait(10)
            return len(text)

    sink = LogSink(Stalled(), capacity=5)
    for number in range(50):
        sink.write(str(number))
    assert sink.dropped >= 40
    gate.set()
    assert sink.flush()


def test_readings_are_rendered_as_gauges() -> None:
    page = (
        Metrics()
        .render(
            [
                Reading("open_events", "Events not ended.", 3, {"state": "accepted"}),
                Reading("open_events", "Events not ended.", 1, {"state": "retrying"}),
                Reading("oldest_due_seconds", "Age of the oldest due event.", 0.5),
            ]
        )
        .decode()
    )
    assert page.count("# TYPE memlane_open_events gauge") == 1
    assert 'memlane_open_events{state="retrying"} 1' in page
    assert "memlane_oldest_due_seconds 0.5" in page


def test_metrics_are_served_on_a_port_of_their_own_and_a_taken_one_is_no_error() -> None:
    metrics, port = Metrics(), free_port()
    metrics.count("sweep", {"found": 1})
    assert metrics.serve("127.0.0.1", port)
    page = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=10).text
    assert 'memlane_signals_total{signal="sweep"} 1.0' in page
    assert not Metrics().serve("127.0.0.1", port)


def test_processes_with_one_folder_render_one_sum(tmp_path: Path) -> None:
    program = (
        "import sys; from core.adapters.metrics import Metrics; metrics = Metrics();"
        "metrics.count('sweep', {'found': 1}); sys.stdout.buffer.write(metrics.render())"
    )
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program]
    pages = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60).stdout
        for _ in range(2)
    ]
    assert 'memlane_signals_total{signal="sweep"} 1.0' in pages[0]
    assert 'memlane_signals_total{signal="sweep"} 2.0' in pages[1]
