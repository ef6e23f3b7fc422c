"""The local endpoint as a process: its key, its folder, its end, and what it refuses."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import httpx
import pytest
import qdrant_edge as edge

from core.adapters.qdrant import QdrantIndex
from core.domain.ids import new_id
from core.ports.index import IndexUnavailable
from tests.contracts.endpoint_refusals import DENSE, REFUSED
from tests.contracts.index_places import SECONDS, Endpoint, command, endpoint, quick_folder
from tests.contracts.index_points import DIMS, point
from tests.contracts.test_index import everything, some

NAME = "kept"
KILLS = 5


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as made:
        yield made / "data"


@pytest.fixture
def http(qdrant_endpoint: Endpoint) -> Iterator[httpx.Client]:
    with qdrant_endpoint.http() as client:
        yield client


def start(folder: Path, *more: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run an endpoint that is expected to end by itself."""
    environ = os.environ | {"MEMLANE_QDRANT_API_KEY": "key"} | environment
    return subprocess.run(command(folder, *more), env=environ, capture_output=True, text=True, timeout=SECONDS)


def test_every_acknowledged_point_survives_kill_9(folder: Path) -> None:
    """The process is killed while it is being written to; the next one has all that was acknowledged."""
    rnd, project = random.Random(11), new_id()
    acknowledged: set[UUID] = set()
    for _ in range(KILLS):
        with endpoint(folder) as running:
            index = running.index()
            index.ensure(NAME, DIMS)
            assert acknowledged <= {id_ for id_, _ in index.scroll(NAME)}
            acknowledged |= written_until_killed(running, rnd, project)
    with endpoint(folder) as running:
        index = running.index()
        assert acknowledged <= {id_ for id_, _ in index.scroll(NAME)}
        assert acknowledged <= {hit.id for hit in index.query(NAME, everything(project, limit=10_000))["dense"]}


def written_until_killed(running: Endpoint, rnd: random.Random, project: UUID) -> set[UUID]:
    """Upserts while another thread waits to kill the process in the midst of it; the ids acknowledged."""
    index, acknowledged, enough = running.index(), set[UUID](), threading.Event()
    killer = threading.Thread(target=lambda: (enough.wait(SECONDS), running.process.kill()))
    killer.start()
    least = rnd.randrange(30, 90)
    while True:
        points = [point(rnd, project) for _ in range(rnd.choice([1, 4, 32]))]
        try:
            index.upsert([NAME], points)
        except IndexUnavailable:
            break
        acknowledged |= {found.id for found in points}
        if len(acknowledged) >= least:
            enough.set()
    killer.join()
    assert running.process.wait(SECONDS) == -signal.SIGKILL
    return acknowledged


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_endpoint_leaves_a_folder_that_qdrant_edge_opens(folder: Path, by: signal.Signals) -> None:
    points = some(new_id(), 20)
    with endpoint(folder) as running:
        index = running.index()
        index.ensure(NAME, DIMS)
        index.upsert([NAME], points)
        assert running.stop(by) == 0
    shard = edge.EdgeShard.load(str(folder / "collections" / NAME))
    assert shard.count(edge.CountRequest(exact=True)) == 20
    records = shard.retrieve([str(points[0].id)], True, True)
    assert records[0].payload == dict(points[0].payload)
    assert len(records[0].vector["dense"]) == DIMS
    assert "scope_key" in shard.info().payload_schema
    shard.close()


def test_collections_are_there_again_after_a_restart(folder: Path) -> None:
    project = new_id()
    with endpoint(folder) as running:
        index = running.index()
        for name in ("one", "two"):
            index.ensure(name, DIMS)
        index.upsert(["one"], some(project, 5))
        index.drop("two")
        running.stop()
    with endpoint(folder) as running, running.http() as client:
        assert client.get("/collections").json()["result"] == {"collections": [{"name": "one"}]}
        assert len(running.index().query("one", everything(project))["dense"]) == 5


def test_leftovers_of_a_collection_half_made_or_half_removed_are_swept(folder: Path) -> None:
    left = folder / "collections" / ".aside-0"
    left.mkdir(parents=True)
    (left / "half").write_text("x")
    with endpoint(folder) as running, running.http() as client:
        assert client.get("/collections").json()["result"] == {"collections": []}
    assert not left.exists()


def test_a_second_endpoint_refuses_the_same_folder(folder: Path) -> None:
    with endpoint(folder) as running:
        second = start(folder)
        assert second.returncode == 2
        assert f"is served by another endpoint (process {running.process.pid})" in second.stderr


def test_a_folder_that_cannot_be_read_is_named_with_what_to_do(folder: Path) -> None:
    (folder / "collections" / "broken").mkdir(parents=True)
    refused = start(folder)
    assert refused.returncode == 2
    assert str(folder / "collections" / "broken") in refused.stderr
    assert "memlane reindex" in refused.stderr


def test_a_folder_that_the_engine_panics_on_is_named_too(folder: Path) -> None:
    """Uneven sparse vectors do that, which is why the endpoint checks them before the engine does."""
    path = folder / "collections" / "poisoned"
    path.mkdir(parents=True)
    config = edge.EdgeConfig(sparse_vectors={"words": edge.EdgeSparseVectorParams()})
    shard = edge.EdgeShard.create(str(path), config)
    uneven = edge.Point(1, {"words": edge.SparseVector([1, 2], [1.0])})
    with pytest.raises(BaseException, match="out of bounds"):
        shard.update(edge.UpdateOperation.upsert_points([uneven]))
    shard.close()
    refused = start(folder)
    assert refused.returncode == 2
    assert f"{path}: " in refused.stderr


def test_it_does_not_start_without_a_key_or_on_a_taken_port(folder: Path) -> None:
    keyless = start(folder, MEMLANE_QDRANT_API_KEY="")
    assert keyless.returncode == 2
    assert "MEMLANE_QDRANT_API_KEY is not set" in keyless.stderr
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = start(folder, "--port", port)
        assert refused.returncode == 2
        assert f"can't listen on 127.0.0.1:{port}" in refused.stderr


def test_the_port_file_holds_the_chosen_port(folder: Path) -> None:
    port_file = folder.parent / "port"
    with endpoint(folder, "--port-file", str(port_file)) as running:
        assert running.url.endswith(f":{int(port_file.read_text())}")


@pytest.mark.parametrize("headers", [{}, {"api-key": ""}, {"api-key": "wrong"}, {"authorization": "Bearer wrong"}])
def test_a_wrong_key_opens_nothing(qdrant_endpoint: Endpoint, headers: dict[str, str]) -> None:
    for method, path in (("GET", "/collections"), ("PUT", "/collections/x"), ("POST", "/collections/x/points/query")):
        answer = httpx.request(method, qdrant_endpoint.url + path, headers=headers, timeout=SECONDS)
        assert answer.status_code == 401
        assert "api-key" in answer.json()["status"]["error"]
    with pytest.raises(IndexUnavailable, match="401"):
        QdrantIndex(qdrant_endpoint.url, "wrong").ensure("x", DIMS)


def test_probes_and_version_need_no_key_and_a_bearer_token_is_a_key(qdrant_endpoint: Endpoint) -> None:
    for path in ("/healthz", "/readyz", "/livez"):
        assert httpx.get(qdrant_endpoint.url + path, timeout=SECONDS).status_code == 200
    assert httpx.get(qdrant_endpoint.url, timeout=SECONDS).json()["version"].startswith("1.")
    bearer = {"authorization": f"Bearer {qdrant_endpoint.api_key}"}
    assert httpx.get(f"{qdrant_endpoint.url}/collections", headers=bearer, timeout=SECONDS).status_code == 200


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_are_in_qdrants_shape(
    http: httpx.Client, index_on_endpoint: QdrantIndex, refusing: str, case: str
) -> None:
    method, path, body, status = REFUSED[case]
    content = {"content": body} if isinstance(body, str) else {"json": body} if body is not None else {}
    answer = http.request(method, path.replace("{name}", refusing), **content)
    assert answer.status_code == status, answer.text
    assert isinstance(answer.json()["status"]["error"], str)
    assert answer.json()["time"] >= 0


@pytest.fixture(scope="module")
def refusing(index_on_endpoint: QdrantIndex) -> Iterator[str]:
    """A collection that only refused requests touch; it must hold nothing when they are through."""
    name = f"refusing_{new_id().hex}"
    index_on_endpoint.ensure(name, DIMS)
    yield name
    assert list(index_on_endpoint.scroll(name)) == []
    index_on_endpoint.drop(name)


def test_bad_input_leaves_no_part_of_a_batch_and_no_trace_in_the_log(folder: Path) -> None:
    """A refused batch stores none of its points, and the folder opens again after a kill."""
    good = {"id": 1, "vector": {"dense": DENSE}}
    bad = [{"dense": [1.0]}, {"bm25": {"indices": [1, 2], "values": [1.0]}}, {"other": DENSE}]
    with endpoint(folder) as running, running.http() as client:
        running.index().ensure(NAME, DIMS)
        for vector in bad:
            answer = client.put(f"/collections/{NAME}/points", json={"points": [good, {"id": 2, "vector": vector}]})
            assert answer.status_code == 400
        missing = {"points": [{"id": 404, "vector": {"dense": DENSE}}]}
        assert client.put(f"/collections/{NAME}/points/vectors", json=missing).status_code == 404
        assert client.post(f"/collections/{NAME}/points/count", json={}).json()["result"] == {"count": 0}
        assert client.put(f"/collections/{NAME}/points", json={"points": [good]}).status_code == 200
        running.process.kill()
    with endpoint(folder) as running, running.http() as client:
        assert client.post(f"/collections/{NAME}/points/count", json={}).json()["result"] == {"count": 1}


def test_a_body_beyond_the_limit_is_refused(http: httpx.Client) -> None:
    answer = http.put("/collections/x/points", content=b" " * (33 * 1024 * 1024))
    assert answer.status_code == 413


def test_batched_operations_apply_in_order(http: httpx.Client, index_on_endpoint: QdrantIndex) -> None:
    name = f"batched_{new_id().hex}"
    index_on_endpoint.ensure(name, DIMS)
    operations = [
        {"upsert": {"points": [{"id": number, "vector": {"dense": DENSE}} for number in (1, 2, 3)]}},
        {"set_payload": {"points": [1], "payload": {"state": "active"}}},
        {"delete": {"points": [2]}},
        {"upsert": {"batch": {"ids": [4], "vectors": {"dense": [DENSE]}, "payloads": [{"state": "new"}]}}},
    ]
    results = http.post(f"/collections/{name}/points/batch", json={"operations": operations}).json()["result"]
    assert [found["status"] for found in results] == ["completed"] * 4
    page = http.post(f"/collections/{name}/points/scroll", json={}).json()["result"]
    assert {record["id"]: record["payload"] for record in page["points"]} == {
        1: {"state": "active"}, 3: {}, 4: {"state": "new"},
    }  # fmt: skip
    assert http.get(f"/collections/{name}/points/4").json()["result"]["payload"] == {"state": "new"}
    assert http.get(f"/collections/{name}/points/2").status_code == 404
    described = http.get(f"/collections/{name}").json()["result"]
    assert described["points_count"] == 3
    assert described["payload_schema"]["scope_key"]["data_type"] == "keyword"
    index_on_endpoint.drop(name)
