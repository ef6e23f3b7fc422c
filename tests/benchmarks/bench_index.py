"""How fast the vector index is: `python -m tests.benchmarks.bench_index --help`.

Starts the local endpoint in a temporary folder (or uses a running Qdrant, `--url`), writes points as the
projection does and asks as search does: one round trip for up to four lists, two filters each.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from uuid import UUID

import numpy as np
import psutil

from core.adapters.qdrant import QdrantIndex
from core.domain.filters import Cond
from core.domain.ids import new_id
from core.domain.scope import Scope
from core.ports.index import IndexPoint, IndexQuery, SparseVector
from tests.contracts.index_places import endpoint

COLLECTION = "bench"
WORDS, ENTITIES = 30_000, 3_000


@dataclass(frozen=True)
class Corpus:
    """Points of one project among others; `users` share its points evenly."""

    project: UUID
    users: list[Scope]
    points: list[IndexPoint]


def make_corpus(options: argparse.Namespace) -> Corpus:
    rnd, rng = random.Random(7), np.random.default_rng(7)
    project, users = new_id(), [Scope(user_id=f"user{number}") for number in range(options.users)]
    dense = rng.standard_normal((options.points, options.dims)).astype(np.float32)
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)
    points = [
        IndexPoint(
            id=new_id(),
            dense=dense[at],
            bm25=_words(rnd, 20, WORDS),
            entity=_words(rnd, 3, ENTITIES),
            bm25_ctx=_words(rnd, 60, WORDS),
            payload=_payload(project, users[at % len(users)], at),
        )
        for at in range(options.points)
    ]
    return Corpus(project, users, points)


def _words(rnd: random.Random, amount: int, vocabulary: int) -> SparseVector:
    """Frequencies fall as in language (Zipf, exponent 1): the most frequent index is in two thirds of the points."""
    drawn = {int(vocabulary ** rnd.random()) for _ in range(amount)}
    return SparseVector(list(drawn), [round(rnd.uniform(0.3, 2.2), 4) for _ in drawn])


def _payload(project: UUID, scope: Scope, at: int) -> dict[str, object]:
    values: dict[str, object] = {
        "project": str(project),
        "scope_key": scope.key,
        "state": "active",
        "created_at": at,
        "updated_at": at,
        "timestamp": at,
        "expiration": 9_999_999,
        "categories": [f"category{at % 8}"],
        "has_categories": True,
        "meta": [f"{at % 50:032x}"],
    }
    for field, value in scope.as_dict().items():
        values[f"has_{field}"] = value is not None
        if value is not None:
            values[field] = value
    return values


def write(index: QdrantIndex, corpus: Corpus, batch: int) -> float:
    """Points a second, one writer."""
    began = time.perf_counter()
    for start in range(0, len(corpus.points), batch):
        index.upsert([COLLECTION], corpus.points[start : start + batch])
    return len(corpus.points) / (time.perf_counter() - began)


def ask(index: QdrantIndex, corpus: Corpus, at: int, lists: tuple[str, ...], limit: int) -> float:
    """Milliseconds of one search of one user's memories."""
    point = corpus.points[at % len(corpus.points)]
    vectors = {name: getattr(point, name) for name in lists}
    where = Cond("scope_key", "eq", corpus.users[at % len(corpus.users)].key)
    began = time.perf_counter()
    index.query(COLLECTION, IndexQuery(corpus.project, where, limit, **vectors))
    return (time.perf_counter() - began) * 1e3


class Meter:
    """Processor time of this thread and of the endpoint: unlike the clock's, it is the same on a busy machine."""

    def __init__(self, endpoint_pid: int | None) -> None:
        self._endpoint = psutil.Process(endpoint_pid) if endpoint_pid else None

    def read(self) -> tuple[float, float]:
        """Seconds: (this thread, the endpoint)."""
        if self._endpoint is None:
            return time.thread_time(), 0.0
        times = self._endpoint.cpu_times()
        return time.thread_time(), times.user + times.system

    def row(self, label: str, repeat: Callable[[], list[float]]) -> str:
        before = self.read()
        millis = repeat()
        client, server = (
            (after - start) * 1e3 / len(millis) for start, after in zip(before, self.read(), strict=True)
        )
        cuts = statistics.quantiles(millis, n=100)
        return f"{label:40} {cuts[49]:8.2f} {cuts[94]:8.2f} {cuts[98]:8.2f} {client:8.2f} {server:8.2f}"


@contextmanager
def writing(index: QdrantIndex, corpus: Corpus, batch: int) -> Iterator[None]:
    """Another client rewrites points all the while."""
    done = threading.Event()

    def rewrite() -> None:
        while not done.is_set():
            start = random.randrange(0, max(1, len(corpus.points) - batch))
            index.upsert([COLLECTION], corpus.points[start : start + batch])

    thread = threading.Thread(target=rewrite)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def measure(index: QdrantIndex, meter: Meter, options: argparse.Namespace) -> None:
    corpus = make_corpus(options)
    index.ensure(COLLECTION, options.dims)
    before, rate, after = meter.read(), write(index, corpus, options.batch), meter.read()
    client, server = ((end - start) * 1e6 / options.points for start, end in zip(before, after, strict=True))
    print(f"upsert, {options.batch} points a call: {rate:.0f} points/s; ", end="")
    print(f"processor time a point: client {client:.0f} µs, endpoint {server:.0f} µs\n")
    heads = ("p50 ms", "p95 ms", "p99 ms", "client", "endpoint")
    print(f"{f'{options.queries} queries each, limit {options.limit}':40}", *(f"{head:>8}" for head in heads))

    def repeat(lists: tuple[str, ...]) -> Callable[[], list[float]]:
        return lambda: [ask(index, corpus, at * 37, lists, options.limit) for at in range(options.queries)]

    for lists in (("dense",), ("dense", "bm25", "entity"), ("dense", "bm25", "bm25_ctx", "entity")):
        print(meter.row(" + ".join(lists), repeat(lists)))
    with writing(index, corpus, options.batch):
        print(meter.row("the last, while another client writes", repeat(lists)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=20_000, help="points of the project (default: %(default)s)")
    parser.add_argument("--users", type=int, default=100, help="users who share them (default: %(default)s)")
    parser.add_argument("--dims", type=int, default=384, help="dimensions of dense vectors (default: %(default)s)")
    parser.add_argument("--queries", type=int, default=400, help="queries of each kind (default: %(default)s)")
    parser.add_argument("--limit", type=int, default=60, help="hits of each list (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=64, help="points of an upsert (default: %(default)s)")
    parser.add_argument("--url", help="a running Qdrant; its key in QDRANT_API_KEY. Default: the local endpoint")
    options = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, ", end="")
    print(", ".join(f"{name} {version(name)}" for name in ("qdrant-client", "qdrant-edge-py")))
    print(f"{options.points} points of {options.dims} dimensions in one project, {options.users} users\n")
    if options.url:
        index = QdrantIndex(options.url, os.environ.get("QDRANT_API_KEY"), timeout=60)
        try:
            measure(index, Meter(None), options)
        finally:
            index.drop(COLLECTION)
        return
    with tempfile.TemporaryDirectory() as folder, endpoint(Path(folder) / "data") as running:
        measure(running.index(), Meter(running.process.pid), options)


if __name__ == "__main__":
    main()
