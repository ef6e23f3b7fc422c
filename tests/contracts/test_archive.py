"""A project exported and imported elsewhere is the same project."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.adapters.qdrant import QdrantIndex
from core.adapters.secret_box import FernetBox
from core.domain.archive import ArchiveRefused
from core.domain.ids import new_id
from core.domain.memory import Candidate, Entity, Relation, Supersede
from core.domain.webhooks import Webhook
from core.services.archive import Imported, export_project, import_project
from core.services.change import Target
from core.services.delete_memory import delete_memory
from core.services.project import sweep_projections
from core.services.search import SearchQuery, search
from core.services.update_memory import Change, update_memory
from deploy.migrations.run import upgrade
from tests.contracts.index_places import Endpoint
from tests.doubles.pipeline import Pipeline, make_pipeline

CANARY = "xylophone"


@pytest.fixture(scope="module")
def new_place(new_database: Callable[[], str], qdrant_endpoint: Endpoint) -> Iterator[Callable[[], Pipeline]]:
    """Makes a system of its own at each call: a migrated database, and a collection in the shared index."""
    made: list[Pipeline] = []
    index = QdrantIndex(qdrant_endpoint.url, qdrant_endpoint.api_key)

    def make() -> Pipeline:
        url = new_database()
        upgrade(url)
        made.append(make_pipeline(url, index, f"a{new_id().hex}"))
        return made[-1]

    yield make
    for pipeline in made:
        with pipeline.database.operations() as tx:
            names = [row.name for row in tx.ops.collections().values()]
        for name in names:
            index.drop(name)
        pipeline.database.close()
    index.close()


@pytest.fixture(scope="module")
def source(new_place: Callable[[], Pipeline]) -> Pipeline:
    """A project with something in every table of an archive, and with what is to stay out of it."""
    line = new_place()
    line.add(
        [{"role": "user", "content": "Ana says “é” 你好 \\u0041 \t tab"}],
        infer=False,
        metadata={"n": 1.5, "x": [None]},
    )
    line.drain_all()
    first = line.memories()[0]

    def supersedes(request: Any) -> list[Candidate]:
        return [
            Candidate(
                "Ana lives in Porto now",
                entities=(Entity("Porto", "porto", "place"),),
                relations=(Relation("Ana", "lives_in", "Porto"),),
                supersedes=(Supersede(0, "changed"),),
                source_turns=(0,),
            )
        ]

    line.extractor.script = supersedes
    line.add("Ana lives in Porto now")
    line.drain_all()
    line.extractor.script = None
    line.add([{"role": "user", "content": f"Fact number {n}"} for n in range(40)], user="bob", infer=False)
    line.drain_all()
    rows = line.memories()
    update_memory(line.runtime, Target(line.project, rows[1].id), Change(text="changed words"))
    line.add(f"the {CANARY} is deleted", infer=False, user="eve")
    line.drain_all()
    delete_memory(line.runtime, Target(line.project, line.memories()[-1].id))
    with line.database.operations() as tx:
        touch = text("INSERT INTO touches VALUES (:project, :id, ARRAY[now()])")
        tx.connection.execute(touch, {"project": line.project, "id": first.id})
        tx.projects.update_project(line.project, name="Ours", description=None, settings={"decay": True})
        now = datetime.now(UTC)
        hook = Webhook(new_id(), line.project, "h", "http://example.com/", ["memory_add"], True, now, now, b"sealed")
        tx.webhooks.add(hook)
        tx.connection.execute(
            text("UPDATE events SET payload = NULL WHERE payload::text LIKE :c"), {"c": f"%{CANARY}%"}
        )
        clear = "UPDATE events SET results = '[]', outcomes = '[]' WHERE results::text LIKE :c"
        tx.connection.execute(text(clear), {"c": f"%{CANARY}%"})
        tx.connection.execute(text("DELETE FROM messages WHERE content LIKE :c"), {"c": f"%{CANARY}%"})
    line.add("never worked on")  # stays open
    return line


def archived(line: Pipeline, project: UUID | None = None) -> list[bytes]:
    lines: list[bytes] = []
    export_project(line.database, project or line.project, lines.append)
    return b"".join(lines).splitlines(keepends=True)


def put(line: Pipeline, lines: list[bytes], project: UUID | None = None) -> Imported:
    return import_project(line.database, lines, collection="imported", project_id=project, box=FernetBox("k"))


def changed(line: bytes, **values: Any) -> bytes:
    return json.dumps(json.loads(line) | values).encode() + b"\n"


def test_export_import_export_gives_the_same_bytes_but_for_the_header(
    source: Pipeline, new_place: Callable[[], Pipeline]
) -> None:
    lines = archived(source)
    tables = {json.loads(line).get("table") for line in lines}
    assert tables >= {"project", "lanes", "events", "messages", "memories", "history", "scope_entities", "entities"}
    assert tables >= {"entity_links", "relations", "touches", "webhooks"}
    there = new_place()
    done = put(there, lines)
    assert (done.rows, done.new) == (len(lines) - 2, len(lines) - 3)  # the project is a row, and is made, not stored
    assert archived(there, done.project_id)[1:] == lines[1:]


def test_an_imported_project_answers_as_the_one_it_was(source: Pipeline, new_place: Callable[[], Pipeline]) -> None:
    there = new_place()
    there.runtime.collections.current()
    done = put(there, archived(source))
    sweep_projections(there.runtime, older_than=-1)
    for words, user in (("Porto", "ann"), ("Fact number 7", "bob")):
        answers = []
        for line, project in ((source, source.project), (there, done.project_id)):
            query = SearchQuery(project, words, {"user_id": user}, line.runtime.clock.now())
            answers.append([(hit.memory, round(hit.score, 4)) for hit in search(line.runtime, query).hits])
        mine, theirs = answers
        assert mine
        assert [(m.id, m.memory, score) for m, score in mine] == [(m.id, m.memory, score) for m, score in theirs]


def test_what_is_deleted_or_secret_or_open_stays_out(source: Pipeline) -> None:
    lines = archived(source)
    text_ = b"".join(lines)
    assert CANARY.encode() not in text_
    assert b"sealed" not in text_
    assert b"never worked on" not in text_
    assert str(source.project).encode() not in text_
    assert json.loads(lines[0])["open_events"] == 1


def test_an_import_that_stopped_is_finished_by_the_next_and_a_third_changes_nothing(
    source: Pipeline, new_place: Callable[[], Pipeline]
) -> None:
    lines, there = archived(source), new_place()
    with pytest.raises(ArchiveRefused, match="stops before its end"):
        put(there, lines[: len(lines) // 2])
    done = put(there, lines)
    assert 0 < done.new < done.rows
    assert archived(there, done.project_id)[1:] == lines[1:]
    again = put(there, lines)
    assert (again.project_id, again.new) == (done.project_id, 0)


def test_webhooks_come_in_switched_off(source: Pipeline, new_place: Callable[[], Pipeline]) -> None:
    there = new_place()
    done = put(there, archived(source))
    with there.database.transaction(done.project_id) as tx:
        [hook] = tx.webhooks.all(done.project_id)
    assert not hook.is_active
    assert "rotate" in (hook.disabled_reason or "")
    assert FernetBox("k").open(hook.secret)
    without = import_project(new_place().database, archived(source), collection="imported")
    assert without.webhooks_skipped == 1


def test_an_archive_goes_into_one_project_of_a_database(source: Pipeline) -> None:
    before = source.count("memories")
    with pytest.raises(ArchiveRefused, match="other rows stand in their place"):
        put(source, archived(source))
    assert source.count("memories") == before
    with pytest.raises(ArchiveRefused, match="There is no project"):
        put(source, archived(source), new_id())


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda lines: [], "empty"),
        (lambda lines: [b"\x00\n"], "not JSON"),
        (lambda lines: [b"[]\n"], "not an object"),
        (lambda lines: [b"{}\n"], "no archive of Memlane"),
        (lambda lines: [changed(lines[0], memlane_archive=2), *lines[1:]], "format is 2"),
        (lambda lines: [changed(lines[0], schema="0001"), *lines[1:]], "of schema 0001"),
        (lambda lines: [changed(lines[0], embedding={"model": "m", "dims": 3}), *lines[1:]], r"m \(3 dimensions\)"),
        (lambda lines: [changed(lines[0], embedding={"model": "m"}), *lines[1:]], "header is damaged"),
        (lambda lines: [changed(lines[0], id=5), *lines[1:]], "header is damaged"),
        (lambda lines: [changed(lines[0], id=f"{new_id()}"), b'{"table":"project","row":{}}\n'], "row of the"),
        (lambda lines: [*lines[:2], b'{"table":"api_keys","row":{"id":1}}\n', *lines[2:]], "api_keys"),
        (lambda lines: [*lines[:2], b'{"row":{}}\n', *lines[2:]], "no table"),
        (lambda lines: [*lines[:-3], lines[-1]], "damaged"),
        (lambda lines: [*lines, lines[1]], "after its end"),
        (lambda lines: [*lines[:2], b'{"table":"lanes","row":{"lane_key":5}}\n', *lines[2:]], "A row of lanes"),
        (lambda lines: [*lines[:2], b'{"table":"events","row":{"id":"x"}}\n', *lines[2:]], "A row of events"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_its_reason(
    lines: list[bytes], elsewhere: Pipeline, damage: Callable[[list[bytes]], list[bytes]], says: str
) -> None:
    with pytest.raises(ArchiveRefused, match=says):
        put(elsewhere, damage(lines))


@pytest.fixture(scope="module")
def lines(source: Pipeline) -> list[bytes]:
    return archived(source)


@pytest.fixture(scope="module")
def elsewhere(new_place: Callable[[], Pipeline]) -> Pipeline:
    line = new_place()
    line.runtime.collections.current()
    return line
