"""What has served its time is deleted, each kind by its own age, and by the project's own where it names one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import text

from core.adapters.qdrant import QdrantIndex
from core.domain.ids import new_id
from core.domain.retention import OF_PROJECTS
from core.domain.webhooks import Webhook
from core.services.change import Target
from core.services.delete_memory import delete_memory
from core.services.upkeep import purge_old
from tests.doubles.pipeline import Pipeline, make_pipeline

AGED = {
    "payloads": "UPDATE events SET completed_at = now() - :days * interval '1 day' WHERE project_id = :project",
    "events": "UPDATE events SET completed_at = now() - :days * interval '1 day' WHERE project_id = :project",
    "deliveries": """UPDATE deliveries SET ended_at = now() - :days * interval '1 day', state = 'delivered'
                     WHERE project_id = :project""",
    "deleted_memories": """UPDATE memories SET updated_at = now() - :days * interval '1 day'
                           WHERE project_id = :project""",
}


@pytest.fixture
def line(own_place: tuple[str, QdrantIndex, str]) -> Iterator[Pipeline]:
    """A project with an ended event, a delivery, a deleted memory and one that stays."""
    made = make_pipeline(*own_place)
    now = datetime.now(UTC)
    with made.database.operations() as tx:
        hook = Webhook(new_id(), made.project, "h", "http://example.com/", ["memory_add"], True, now, now, b"s")
        tx.webhooks.add(hook)
    made.add([{"role": "user", "content": f"Nora grows orchids {n}"} for n in range(2)], infer=False)
    made.drain_all()
    delete_memory(made.runtime, Target(made.project, made.memories()[0].id))
    yield made
    made.database.close()


def age(line: Pipeline, kind: str, days: float) -> None:
    with line.database.operations() as tx:
        tx.connection.execute(text(AGED[kind]), {"project": line.project, "days": days})


def left(line: Pipeline) -> dict[str, int]:
    payloads = text("SELECT count(*) FROM events WHERE project_id = :project AND payload IS NOT NULL")
    with line.database.operations() as tx:
        kept = int(tx.connection.execute(payloads, {"project": line.project}).scalar_one())
    return {
        "payloads": kept,
        "events": line.count("events"),
        "deliveries": line.count("deliveries"),
        "deleted_memories": len(line.memories("state = 'deleted'")),
    }


def set_retention(line: Pipeline, days: dict[str, Any]) -> None:
    with line.database.operations() as tx:
        tx.projects.update_project(line.project, name=None, description=None, settings={"retention": days})


@pytest.mark.parametrize("kind", OF_PROJECTS)
def test_each_kind_goes_by_its_own_age_and_not_before(line: Pipeline, kind: str) -> None:
    before = left(line)
    age(line, kind, OF_PROJECTS[kind] - 0.1)
    if kind == "events":  # their payloads are older than seven days then
        before["payloads"] = 0
    purge_old(line.runtime)
    assert left(line) == before
    age(line, kind, OF_PROJECTS[kind] + 0.1)
    purge_old(line.runtime)
    gone = left(line)
    assert gone.pop(kind) == 0
    assert {name: count for name, count in before.items() if name != kind} == gone | (
        {"payloads": 0} if kind == "events" else {}
    )


@pytest.mark.parametrize("kind", OF_PROJECTS)
def test_a_project_may_keep_things_longer_or_shorter(line: Pipeline, kind: str) -> None:
    set_retention(line, {kind: OF_PROJECTS[kind] + 10, "payloads": 3_650} if kind == "events" else {kind: 3_650})
    before = left(line)
    age(line, kind, OF_PROJECTS[kind] + 1)
    purge_old(line.runtime)
    assert left(line)[kind] == before[kind]
    set_retention(line, {kind: 0})
    purge_old(line.runtime)
    assert left(line)[kind] == 0


def test_a_deleted_memory_goes_with_everything_of_it_and_of_it_alone(line: Pipeline) -> None:
    [deleted] = line.memories("state = 'deleted'")
    [other] = line.memories()
    age(line, "deleted_memories", 31)
    assert purge_old(line.runtime)["deleted_memories"] == 1
    for table in ("history", "entity_links", "relations"):
        query = text(f"SELECT DISTINCT memory_id FROM {table} WHERE project_id = :project")
        with line.database.operations() as tx:
            found = {row.memory_id for row in tx.connection.execute(query, {"project": line.project})}
        assert found <= {other.id}
    assert line.count("history") == 1
    assert line.count("entities") > 0
    assert [row.id for row in line.memories("true")] == [other.id]
    assert deleted.id not in line.indexed()


def test_what_is_open_or_still_to_be_delivered_is_never_deleted(line: Pipeline) -> None:
    event = line.add("waits")
    with line.database.operations() as tx:
        old = "UPDATE events SET completed_at = now() - interval '10 years' WHERE id = :id"
        tx.connection.execute(text(old), {"id": event})
        waiting = "UPDATE deliveries SET ended_at = now() - interval '10 years' WHERE project_id = :p"
        tx.connection.execute(text(waiting), {"p": line.project})
    purge_old(line.runtime)
    assert line.event(event).payload is not None
    assert line.count("deliveries") == 2
    line.drain_all()
