"""The port VectorIndex: what every index keeps, on the local endpoint and on a Qdrant server (QDRANT_URL)."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest

from core.adapters import qdrant
from core.adapters.qdrant import QdrantIndex
from core.domain.filters import FALSE, TRUE, Cond, Not, Or
from core.domain.ids import new_id
from core.ports.index import IndexHit, IndexPoint, IndexQuery, IndexUnavailable, SparseVector
from tests.contracts.index_points import DIMS, point, sparse, unit

LISTS = ("dense", "bm25", "bm25_ctx", "entity")
OF_U1 = Cond("user_id", "eq", "u1")


def ids_of(hits: Sequence[IndexHit]) -> list[UUID]:
    return [hit.id for hit in hits]


def everything(project: UUID, limit: int = 100, **changes: object) -> IndexQuery:
    """A query that every point of the project answers, in the dense list at least."""
    rnd = random.Random(99)
    base = IndexQuery(project, TRUE, limit, dense=unit(rnd), bm25=sparse(rnd, 60, 60), entity=sparse(rnd, 20, 20))
    return replace(base, bm25_ctx=sparse(rnd, 60, 60), **changes)  # type: ignore[arg-type]


def some(project: UUID, amount: int, seed: int = 1, user: str = "u1") -> list[IndexPoint]:
    rnd = random.Random(seed)
    return [point(rnd, project, user) for _ in range(amount)]


def test_points_are_found_as_soon_as_upsert_returns(index: QdrantIndex, collection: str) -> None:
    project = new_id()
    points = some(project, 20)
    for wanted in points:
        index.upsert([collection], [wanted])
        lists = index.query(collection, IndexQuery(project, OF_U1, 20, dense=wanted.dense, bm25=wanted.bm25))
        assert lists["dense"][0].id == wanted.id
        assert lists["dense"][0].score == pytest.approx(1.0, abs=1e-5)
        assert wanted.id in ids_of(lists["bm25"])


def test_only_the_lists_asked_for_come_back_best_first_and_within_the_limit(
    index: QdrantIndex, collection: str
) -> None:
    project = new_id()
    index.upsert([collection], some(project, 50))
    lists = index.query(collection, everything(project, limit=7, entity=None))
    assert set(lists) == {"dense", "bm25", "bm25_ctx"}
    for hits in lists.values():
        scores = [hit.score for hit in hits]
        assert len(scores) == 7
        assert scores == sorted(scores, reverse=True)


def test_a_search_without_hits_has_empty_lists(index: QdrantIndex, collection: str) -> None:
    """An empty collection, a filter nothing satisfies, and a query vector without words."""
    project = new_id()
    assert index.query(collection, everything(project)) == {name: [] for name in LISTS}
    index.upsert([collection], some(project, 3))
    assert index.query(collection, everything(project, where=FALSE)) == {name: [] for name in LISTS}
    wordless = IndexQuery(project, TRUE, 5, bm25=SparseVector([], []))
    assert index.query(collection, wordless) == {"bm25": []}


def test_an_upsert_replaces_the_whole_point(index: QdrantIndex, collection: str) -> None:
    """Vectors and payload fields that the new version lacks are gone, not left over."""
    project, rnd = new_id(), random.Random(3)
    old = replace(point(rnd, project), bm25_ctx=sparse(rnd, 12, 60), entity=sparse(rnd, 3, 20))
    new = replace(old, bm25_ctx=None, entity=SparseVector([], []), dense=unit(rnd), payload={"project": str(project)})
    index.upsert([collection], [old])
    index.upsert([collection], [new])
    lists = index.query(collection, everything(project, dense=new.dense))
    assert ids_of(lists["dense"]) == [new.id]
    assert lists["dense"][0].score == pytest.approx(1.0, abs=1e-5)
    assert lists["bm25_ctx"] == lists["entity"] == []
    assert list(index.scroll(collection, project)) == [(new.id, {"project": str(project)})]


def test_deleted_points_are_in_no_list_and_unknown_ids_are_no_error(index: QdrantIndex, collection: str) -> None:
    project = new_id()
    points = some(project, 10)
    index.upsert([collection], points)
    index.delete([collection], [points[0].id, points[1].id, new_id()])
    index.delete([collection], [])
    left = {found.id for found in points[2:]}
    lists = index.query(collection, everything(project))
    assert set(ids_of(lists["dense"])) == left
    assert all(set(ids_of(hits)) <= left for hits in lists.values())


@pytest.mark.parametrize("where", [TRUE, Or((OF_U1, Not(OF_U1))), Not(FALSE), Not(Cond("state", "eq", "deleted"))])
def test_no_filter_reaches_into_another_project(index: QdrantIndex, collection: str, where: object) -> None:
    mine, other = new_id(), new_id()
    index.upsert([collection], some(mine, 5) + some(other, 25, seed=2))
    lists = index.query(collection, everything(mine, where=where))
    own = {id_ for id_, _ in index.scroll(collection, mine)}
    assert len(own) == 5
    assert set(ids_of(lists["dense"])) == own
    assert all(set(ids_of(hits)) <= own for hits in lists.values())


def test_ids_resolved_elsewhere_stand_in_for_their_leaf(index: QdrantIndex, collection: str) -> None:
    project, leaf = new_id(), Cond("memory", "contains", "x")
    points = some(project, 8)
    index.upsert([collection], points)
    wanted = [points[3].id, points[5].id]
    lists = index.query(collection, everything(project, where=leaf, ids={leaf: wanted}))
    assert set(ids_of(lists["dense"])) == set(wanted)
    lists = index.query(collection, everything(project, where=leaf, ids={leaf: []}))
    assert lists["dense"] == []


def test_what_other_projects_store_changes_no_score_by_a_single_bit(index: QdrantIndex, collection: str) -> None:
    """The IDF of a word counts the points of the project alone."""
    mine, other = new_id(), new_id()
    index.upsert([collection], some(mine, 40))
    before = index.query(collection, everything(mine))
    index.upsert([collection], some(other, 400, seed=5))
    assert index.query(collection, everything(mine)) == before
    index.upsert([collection], some(mine, 1, seed=6))
    after = index.query(collection, everything(mine))
    assert [hit.score for hit in after["bm25"]] != [hit.score for hit in before["bm25"]]


def test_a_rare_word_counts_more_than_a_common_one(index: QdrantIndex, collection: str) -> None:
    project, rnd = new_id(), random.Random(4)
    base = point(rnd, project)
    common, rare = SparseVector([1], [1.0]), SparseVector([2], [1.0])
    points = [replace(base, id=new_id(), bm25=common) for _ in range(9)] + [replace(base, id=new_id(), bm25=rare)]
    index.upsert([collection], points)
    query = IndexQuery(project, TRUE, 10, bm25=SparseVector([1, 2], [1.0, 1.0]))
    hits = index.query(collection, query)["bm25"]
    assert hits[0].id == points[-1].id
    assert hits[0].score > 2 * hits[1].score


def test_nearest_answers_each_vector_from_the_active_points_of_the_scopes(
    index: QdrantIndex, collection: str
) -> None:
    project, rnd = new_id(), random.Random(5)
    base = point(rnd, project)
    mine = dict(base.payload) | {"scope_key": "mine", "state": "active"}
    points = [replace(base, id=new_id(), dense=unit(rnd), payload=mine) for _ in range(6)]
    hidden = [mine | {"state": "superseded"}, mine | {"scope_key": "other"}, mine | {"project": str(new_id())}]
    others = [replace(points[0], id=new_id(), payload=payload) for payload in hidden]
    index.upsert([collection], points + others)
    rows = np.stack([points[0].dense, points[4].dense])
    found = index.nearest(collection, project, ["mine", "absent"], rows, 3)
    assert [hits[0].id for hits in found] == [points[0].id, points[4].id]
    assert [len(hits) for hits in found] == [3, 3]
    assert {hit.id for hits in found for hit in hits} <= {kept.id for kept in points}
    assert index.nearest(collection, project, [], rows, 3) == [[], []]
    assert index.nearest(collection, project, ["mine"], rows[:0], 3) == []


def test_scrolling_visits_every_point_once_in_pages(
    index: QdrantIndex, collection: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qdrant, "SCROLL_POINTS", 7)
    mine, other = new_id(), new_id()
    points = some(mine, 24) + some(other, 11, seed=2)
    index.upsert([collection], points)
    seen = [(id_, values) for id_, values in index.scroll(collection) if id_ in {found.id for found in points}]
    assert len(seen) == len(points)
    assert dict(seen) == {found.id: dict(found.payload) for found in points}
    assert {id_ for id_, _ in index.scroll(collection, mine)} == {found.id for found in points[:24]}
    assert list(index.scroll(collection, new_id())) == []


def test_two_collections_take_the_same_writes_and_one_can_go(index: QdrantIndex, collection: str) -> None:
    """As while a rebuild runs: the projector writes the old collection and the new one."""
    project, second = new_id(), f"{collection}_next"
    points = some(project, 100)
    index.ensure(second, DIMS)
    index.upsert([collection, second], points)
    index.delete([collection, second], [points[0].id])
    assert dict(index.scroll(collection, project)) == dict(index.scroll(second))
    for name, hits in index.query(collection, everything(project)).items():
        twins = {hit.id: hit.score for hit in index.query(second, everything(project))[name]}
        assert twins == {hit.id: pytest.approx(hit.score, rel=1e-5) for hit in hits}
    index.drop(second)
    index.drop(second)
    with pytest.raises(IndexUnavailable):
        index.query(second, everything(project))
    assert len(dict(index.scroll(collection, project))) == 99


def test_a_missing_collection_is_unavailable(index: QdrantIndex) -> None:
    with pytest.raises(IndexUnavailable, match="404"):
        index.upsert(["no_such_collection"], some(new_id(), 1))
    with pytest.raises(IndexUnavailable, match="404"):
        list(index.scroll("no_such_collection"))


def test_ensure_keeps_what_is_there_and_refuses_other_dimensions(index: QdrantIndex, collection: str) -> None:
    project = new_id()
    index.upsert([collection], some(project, 3))
    index.ensure(collection, DIMS)
    assert len(list(index.scroll(collection, project))) == 3
    with pytest.raises(IndexUnavailable, match=f"{DIMS} dimensions, not {DIMS + 1}"):
        index.ensure(collection, DIMS + 1)


def test_many_processes_may_ensure_one_collection_at_once(index: QdrantIndex) -> None:
    name = f"contract_{new_id().hex}"
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: index.ensure(name, DIMS), range(6)))
    index.upsert([name], some(new_id(), 1))
    index.drop(name)


def test_threads_share_one_index(index: QdrantIndex, collection: str) -> None:
    """Writers and readers at once: no error, and each thread finds what it wrote."""
    start = threading.Barrier(6)

    def work(number: int) -> int:
        project = new_id()
        start.wait(10)
        for seed in range(5):
            index.upsert([collection], some(project, 8, seed=seed * 100 + number))
            assert len(index.query(collection, everything(project))["dense"]) == (seed + 1) * 8
        return len(list(index.scroll(collection, project)))

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, range(6))) == [40] * 6


def test_dense_vectors_may_be_plain_lists(index: QdrantIndex, collection: str) -> None:
    project, rnd = new_id(), random.Random(8)
    wanted = point(rnd, project)
    index.upsert([collection], [replace(wanted, dense=[float(number) for number in wanted.dense])])
    hits = index.query(collection, IndexQuery(project, TRUE, 1, dense=np.asarray(wanted.dense)))["dense"]
    assert hits[0].score == pytest.approx(1.0, abs=1e-5)
