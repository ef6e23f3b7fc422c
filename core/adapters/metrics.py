"""Prometheus metrics, counted from the same signals that become log lines.

Labels have few values: routes are templates, codes come from the catalogue, ids are never labels. With
PROMETHEUS_MULTIPROC_DIR set before the process starts, every process of one machine counts into that folder
and each of them renders the sum.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from core.domain.signals import Signal

CONTENT_TYPE = CONTENT_TYPE_LATEST
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_SECONDS_PER_MS = 0.001


@dataclass(frozen=True)
class Reading:
    """A figure read at the time of the scrape (queue depth, oldest age, live workers), not counted by a process."""

    name: str
    help: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


class Metrics:
    """All counters and histograms of one process. `count` ignores fields that it does not know."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self._counters: dict[str, Counter] = {}
        self._histograms: dict[str, Histogram] = {}
        for name, text, labels in _COUNTERS:
            self._counters[name] = Counter(f"memlane_{name}", text, labels, registry=self.registry)
        for name, text, labels in _HISTOGRAMS:
            self._histograms[name] = Histogram(
                f"memlane_{name}", text, labels, registry=self.registry, buckets=_BUCKETS
            )

    def count(self, name: str, fields: Mapping[str, Any]) -> None:
        self._inc("signals", 1, signal=name)
        labelled = _BY_SIGNAL.get(name)
        if labelled is not None:
            counter, histogram, label_names = labelled
            labels = {label: _label(fields.get(label)) for label in label_names}
            self._inc(counter, 1, **labels)
            self._observe(histogram, fields.get("ms"), **{label: labels[label] for label in label_names[:1]})
        self._count_details(name, fields)

    def _count_details(self, name: str, fields: Mapping[str, Any]) -> None:
        for stage, milliseconds in (fields.get("stages") or {}).items():
            self._observe("stage_seconds", milliseconds, signal=name, stage=str(stage))
        if name == Signal.EVENT_ATTEMPT:
            self._observe("event_latency_seconds", fields.get("latency_ms"))
            for outcome, number in (fields.get("outcomes") or {}).items():
                self._inc("candidates", number, outcome=str(outcome))
        elif name == Signal.SEARCH:
            self._inc("search_dropped_hits", fields.get("dropped") or 0)
        elif name == Signal.MODEL_CALL:
            for kind in ("prompt", "completion"):
                self._inc("model_tokens", fields.get(f"{kind}_tokens") or 0, kind=kind)

    def _inc(self, name: str, amount: float, **labels: str) -> None:
        counter = self._counters[name]
        (counter.labels(**labels) if labels else counter).inc(amount)

    def _observe(self, name: str, milliseconds: Any, **labels: str) -> None:
        if not isinstance(milliseconds, (int, float)):
            return
        histogram = self._histograms[name]
        (histogram.labels(**labels) if labels else histogram).observe(milliseconds * _SECONDS_PER_MS)

    def serve(self, host: str, port: int) -> bool:
        """Answer scrapes on an address of one's own, in a daemon thread; False when the port is taken."""
        try:
            start_http_server(port, host, self.registry)
        except OSError:
            return False
        return True

    def render(self, readings: Iterable[Reading] = ()) -> bytes:
        """The page of `/metrics` (content type CONTENT_TYPE), `readings` after the counters."""
        registry = self.registry
        if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry) + _render_readings(readings)


def _label(value: Any) -> str:
    return "" if value is None else str(value)


def _render_readings(readings: Iterable[Reading]) -> bytes:
    lines: list[str] = []
    described: set[str] = set()
    for reading in readings:
        name = f"memlane_{reading.name}"
        if name not in described:
            described.add(name)
            lines += [f"# HELP {name} {reading.help}", f"# TYPE {name} gauge"]
        labels = ",".join(f'{key}="{_escape(value)}"' for key, value in reading.labels.items())
        lines.append(f"{name}{{{labels}}} {reading.value}" if labels else f"{name} {reading.value}")
    return "".join(line + "\n" for line in lines).encode()


def _escape(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


_COUNTERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("signals", "Signals of any kind.", ("signal",)),
    ("requests", "HTTP requests answered.", ("route", "method", "status")),
    ("accepts", "Adds accepted (created) or recognised as a repeat (replayed).", ("disposition",)),
    ("event_attempts", "Attempts at events, by what became of them.", ("outcome", "code")),
    ("candidates", "Candidates of extraction, by what became of them.", ("outcome",)),
    ("lane_turns", "Turns of workers at lanes.", ("outcome",)),
    ("searches", "Searches.", ("outcome",)),
    ("search_dropped_hits", "Index hits that the truth did not confirm.", ()),
    ("projections", "Writes to the index.", ("outcome",)),
    ("webhook_attempts", "Tries of webhook deliveries.", ("outcome",)),
    ("upkeep_runs", "Runs of scheduled work.", ("task", "outcome")),
    ("model_calls", "Calls of models.", ("kind", "outcome")),
    ("model_tokens", "Tokens sent to and received from chat models.", ("kind",)),
)
_HISTOGRAMS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("request_seconds", "Time to answer an HTTP request.", ("route",)),
    ("accept_seconds", "Time to accept an add.", ("disposition",)),
    ("event_attempt_seconds", "Time of one attempt at an event.", ("outcome",)),
    ("event_latency_seconds", "From accepting an add to its memories being searchable.", ()),
    ("stage_seconds", "Time of one stage.", ("signal", "stage")),
    ("lane_turn_seconds", "Time that a worker held a lane.", ("outcome",)),
    ("search_seconds", "Time of a search inside the service.", ("outcome",)),
    ("projection_seconds", "Time of a write to the index.", ("outcome",)),
    ("webhook_attempt_seconds", "Time of one try of a delivery.", ("outcome",)),
    ("upkeep_seconds", "Time of one run of scheduled work.", ("task",)),
    ("model_call_seconds", "Time of one call of a model.", ("kind",)),
)
# signal → its counter, its histogram, the labels of the counter; the first of them labels the histogram too
_BY_SIGNAL: dict[str, tuple[str, str, tuple[str, ...]]] = {
    Signal.REQUEST: ("requests", "request_seconds", ("route", "method", "status")),
    Signal.ACCEPT: ("accepts", "accept_seconds", ("disposition",)),
    Signal.EVENT_ATTEMPT: ("event_attempts", "event_attempt_seconds", ("outcome", "code")),
    Signal.LANE_TURN: ("lane_turns", "lane_turn_seconds", ("outcome",)),
    Signal.SEARCH: ("searches", "search_seconds", ("outcome",)),
    Signal.PROJECTION: ("projections", "projection_seconds", ("outcome",)),
    Signal.WEBHOOK_ATTEMPT: ("webhook_attempts", "webhook_attempt_seconds", ("outcome",)),
    Signal.UPKEEP: ("upkeep_runs", "upkeep_seconds", ("task", "outcome")),
    Signal.MODEL_CALL: ("model_calls", "model_call_seconds", ("kind", "outcome")),
}
