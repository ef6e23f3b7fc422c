"""Search over HTTP: inputs, shapes of three versions, permits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from core.ports.models import Matrix, ModelError
from tests.api.world import Caller, World

V3 = "/v3/memories/search/"
USER = {"user_id": "u"}


@pytest.fixture(scope="module")
def filled(api: World) -> Caller:
    caller = api.project("searching")
    caller.add_all(["Nora loves hiking in the Alps", "Nora eats shellfish", "ticket 40017 is Ana's"], run_id=None)
    caller.add("Nora loves sailing", run_id="r", metadata={"a": 1})
    return caller


def found(caller: Caller, query: str = "hiking", path: str = V3, **body: Any) -> Any:
    """Without a threshold: how high the fast embedder's scores are is nobody's concern here."""
    return caller.expect(200, "POST", path, {"query": query, "filters": USER, "threshold": 0.0, **body})


def texts(answer: Any) -> list[str]:
    return [row["memory"] for row in (answer["results"] if isinstance(answer, dict) else answer)]


def test_hits_are_memory_objects_with_a_score(filled: Caller) -> None:
    [first, *_] = found(filled, "who loves hiking")["results"]
    assert first["memory"] == "Nora loves hiking in the Alps"
    assert 0 < first["score"] <= 1
    assert set(first["score_breakdown"]) == {"semantic", "bm25", "entity", "temporal"}
    assert {key: first[key] for key in first if not key.startswith("score")} == filled.get(
        f"/v1/memories/{first['id']}/"
    )


def test_scores_descend_and_top_k_cuts(filled: Caller) -> None:
    rows = found(filled, "Nora", threshold=0.0)["results"]
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
    assert len(found(filled, "Nora", threshold=0.0, top_k=1)["results"]) == 1
    assert len(found(filled, "Nora", threshold=0.9)["results"]) <= len(rows)


@pytest.mark.parametrize("path", [V3, "/v2/memories/search/"])
def test_an_answer_tells_where_the_time_went(filled: Caller, path: str) -> None:
    reply = filled.send("POST", path, {"query": "hiking", "filters": USER})
    stages = dict(entry.split(";dur=") for entry in reply.headers["server-timing"].split(", "))
    assert {"embed", "recall", "fuse"} <= set(stages)
    assert all(float(ms) >= 0 for ms in stages.values())


def test_a_hit_names_the_messages_it_came_from(filled: Caller) -> None:
    [first, *_] = found(filled, "who loves hiking")["results"]
    assert first["source_turns"] == [0]


def test_an_unknown_user_finds_nothing(filled: Caller) -> None:
    assert found(filled, filters={"user_id": "nobody"})["results"] == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"query": None}, "validation_failed"),
        ({"query": ""}, "validation_failed"),
        ({"query": "  "}, "validation_failed"),
        ({"query": 5}, "validation_failed"),
        ({"query": "x" * 20_001}, "validation_failed"),
        ({"top_k": 0}, "validation_failed"),
        ({"top_k": 1001}, "validation_failed"),
        ({"top_k": 2.5}, "validation_failed"),
        ({"threshold": 1.5}, "validation_failed"),
        ({"threshold": -0.1}, "validation_failed"),
        ({"rerank": "yes"}, "validation_failed"),
        ({"reference_date": "soon"}, "validation_failed"),
        ({"filters": None}, "filters_missing"),
        ({"filters": {}}, "filters_missing"),
        ({"filters": []}, "validation_failed"),
        ({"filters": {"bogus": 1}}, "filters_invalid"),
        ({"filters": {"NOT": {"user_id": "u"}}}, "filters_unscoped"),
        ({"user_id": "u"}, "scope_top_level"),
        ({"runId": "r"}, "scope_top_level"),
    ],
)
def test_bad_searches_are_400(filled: Caller, body: dict[str, Any], code: str) -> None:
    reply = filled.send("POST", V3, {"query": "hiking", "filters": USER, **body})
    assert (reply.status, reply.body["code"]) == (400, code)


@pytest.mark.parametrize(
    "extra",
    [
        {"keyword_search": True},
        {"latest_only": True, "include_merged": True, "show_expired": True},
        {"reference_date": 1672531200},
        {"reference_date": "2023-01-01"},
        {"reference_date": "2023-01-01T10:00:00Z"},
        {"output_format": "v1.1", "version": "v2", "enable_graph": False, "source": "CLI", "rerank": True},
    ],
)
def test_optional_inputs_are_accepted(filled: Caller, extra: dict[str, Any]) -> None:
    assert texts(found(filled, **extra))[0] == "Nora loves hiking in the Alps"


def test_fields_and_body_filters_narrow(filled: Caller) -> None:
    [row] = found(filled, top_k=1, fields=["memory", "score"])["results"]
    assert set(row) == {"id", "memory", "score"}
    both = {"user_id": "u", "run_id": "*"}
    assert texts(found(filled, "sailing", filters=both, metadata={"a": 1})) == ["Nora loves sailing"]
    assert texts(found(filled, "sailing", filters=both, metadata={"a": 2})) == []
    assert texts(found(filled, "sailing", filters=both, categories=["none"])) == []


def test_v2_is_a_bare_array_and_tolerates_stray_ids(filled: Caller) -> None:
    path = "/v2/memories/search/"
    assert texts(found(filled, path=path, user_id="u"))[0] == "Nora loves hiking in the Alps"
    assert len(found(filled, path=path, threshold=None)) <= len(found(filled, path=path))
    reply = filled.send("POST", path, {"query": "x", "user_id": "u"})
    assert (reply.status, reply.body["code"]) == (400, "filters_missing")


def test_v1_takes_top_level_ids_in_two_shapes(filled: Caller) -> None:
    body = {"query": "hiking", "user_id": "u"}
    assert texts(filled.expect(200, "POST", "/v1/memories/search/", body))[0] == "Nora loves hiking in the Alps"
    wrapped = filled.expect(200, "POST", "/v1/memories/search/", {**body, "output_format": "v1.1"})
    assert wrapped["relations"] == []
    unscoped = filled.send("POST", "/v1/memories/search/", {"query": "hiking"})
    assert (unscoped.status, unscoped.body["message"]) == (
        400,
        "At least one of the filters: agent_id, user_id, app_id, run_id is required!",
    )


def test_deleted_and_updated_memories_are_searched_as_they_are_now(caller: Caller) -> None:
    first, second = caller.add_all(["Nora loves hiking", "Nora plays chess"])
    caller.expect(200, "PUT", f"/v1/memories/{second}/", {"text": "Nora plays tennis"})
    assert texts(found(caller, "tennis"))[0] == "Nora plays tennis"
    caller.expect(200, "DELETE", f"/v1/memories/{first}/")
    assert first not in {row["id"] for row in found(caller, "Nora", threshold=0.0)["results"]}
    caller.send("DELETE", "/v1/memories/?user_id=u")
    assert found(caller, "Nora", threshold=0.0)["results"] == []


def test_an_embedder_that_is_down_is_503_and_never_an_empty_list(
    api: World, filled: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(text: str) -> Matrix:
        raise ModelError("down", retry_after=7)

    with monkeypatch.context() as patched:
        patched.setattr(api.embedder, "embed_query", down)
        reply = filled.send("POST", V3, {"query": "hiking", "filters": USER})
    assert (reply.status, reply.body["code"], reply.headers["retry-after"]) == (503, "embedder_unavailable", "7")


class Gate:
    """Searches wait in the embedder until it opens; `arrived` counts those that have got there."""

    def __init__(self) -> None:
        self.arrived = threading.Semaphore(0)
        self.opened = threading.Event()

    def pass_through(self) -> None:
        self.arrived.release()
        assert self.opened.wait(20)


@pytest.fixture
def gate(api: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made, real = Gate(), api.embedder.embed_query

    def waiting(text: str) -> Matrix:
        made.pass_through()
        return real(text)

    monkeypatch.setattr(api.embedder, "embed_query", waiting)
    yield made
    made.opened.set()


def test_searches_above_the_permits_are_503_and_health_still_answers(api: World, filled: Caller, gate: Gate) -> None:
    permits = api.parts.settings.search_permits

    def one() -> Any:
        return filled.send("POST", V3, {"query": "hiking", "filters": USER})

    with ThreadPoolExecutor(permits) as pool:
        running = [pool.submit(one) for _ in range(permits)]
        for _ in range(permits):
            assert gate.arrived.acquire(timeout=20)
        assert api.server.send("GET", "/healthz").status == 200
        busy = one()
        assert (busy.status, busy.body["code"], busy.headers["retry-after"]) == (503, "search_busy", "1")
        gate.opened.set()
        assert {job.result().status for job in running} == {200}
