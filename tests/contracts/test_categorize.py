"""Categories follow a changed text: null with the change, found again by the chat model, told by webhook."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.domain.memory import Memory
from core.domain.narrowing import Narrowing
from core.ports.models import ChatReply, ModelError
from core.services.categorize import categorize_due
from core.services.change import Target
from core.services.change_batch import Item, update_batch
from core.services.listing import ListQuery, list_memories
from core.services.read_memory import read_memory
from core.services.revert_memory import revert_memory
from core.services.update_memory import Change, update_memory
from tests.doubles.chat import ScriptedChat, give_chat
from tests.doubles.pipeline import Pipeline

KNOWN = [{"food": "what people eat"}, {"work": "jobs"}]


def with_chat(pipeline: Pipeline, *replies: str | Exception) -> ScriptedChat:
    chat = ScriptedChat(*replies, default='{"categories": ["food"]}')
    return give_chat(pipeline, chat, custom_categories=KNOWN)


def stored(pipeline: Pipeline, content: str) -> UUID:
    pipeline.add(content, infer=False)
    pipeline.drain()
    memory_id: UUID = pipeline.memories()[-1].id
    return memory_id


def read(pipeline: Pipeline, memory_id: UUID) -> Memory:
    return read_memory(pipeline.database, pipeline.project, memory_id)


def reworded(pipeline: Pipeline, memory_id: UUID, content: str) -> Memory:
    return update_memory(pipeline.runtime, Target(pipeline.project, memory_id), Change(text=content))


def due_now(pipeline: Pipeline) -> None:
    with pipeline.database.operations() as tx:
        tx.connection.execute(text("UPDATE categorizations SET due_at = now()"))


def test_a_changed_text_is_categorised_from_the_projects_own_list(pipeline: Pipeline) -> None:
    chat = with_chat(pipeline, '{"categories": ["WORK", "nonsense", "work"]}')
    memory_id = stored(pipeline, "Ann likes soup")
    assert (categorize_due(pipeline.runtime), chat.prompts) == (0, [])
    changed = reworded(pipeline, memory_id, "Ann is a welder")
    assert changed.categories is None
    assert categorize_due(pipeline.runtime) == 1
    now = read(pipeline, memory_id)
    assert (now.categories, now.version, now.updated_at) == (["work"], changed.version, changed.updated_at)
    assert "food: what people eat" in chat.prompts[0]
    assert "Ann is a welder" in chat.prompts[0]
    assert categorize_due(pipeline.runtime) == 0
    assert pipeline.count("categorizations") == 0
    [entry] = [row for row in _history(pipeline, memory_id) if row.version == changed.version]
    assert entry.snapshot["categories"] == ["work"]


def test_the_index_and_the_list_filter_by_the_new_categories(pipeline: Pipeline) -> None:
    with_chat(pipeline)
    memory_id = stored(pipeline, "Ann welds")
    reworded(pipeline, memory_id, "Ann likes soup")
    categorize_due(pipeline.runtime)
    collection = pipeline.runtime.collections.current().active
    [payload] = [payload for _, payload in pipeline.runtime.index.scroll(collection, pipeline.project)]
    assert "food" in json.dumps(payload)
    query = ListQuery(pipeline.project, {"user_id": "ann"}, pipeline.runtime.clock.now())
    for names, count in ((("food",), 1), (("work",), 0)):
        assert list_memories(pipeline.database, replace(query, narrowing=Narrowing(categories=names))).count == count


def test_only_a_change_of_the_text_asks_and_a_batch_asks_for_each(pipeline: Pipeline) -> None:
    with_chat(pipeline)
    ids = [stored(pipeline, content) for content in ("Ann welds", "Ann rows")]
    update_memory(pipeline.runtime, Target(pipeline.project, ids[0]), Change(metadata={"a": 1}))
    assert categorize_due(pipeline.runtime) == 0
    items = [Item(id_, Change(text=f"Ann eats {number} eggs")) for number, id_ in enumerate(ids)]
    update_batch(pipeline.runtime, pipeline.project, items)
    assert categorize_due(pipeline.runtime) == 2
    assert [read(pipeline, id_).categories for id_ in ids] == [["food"], ["food"]]


def test_a_revert_brings_its_versions_categories_back_and_asks_where_there_were_none(pipeline: Pipeline) -> None:
    chat = with_chat(pipeline, '{"categories": ["food"]}', '{"categories": ["work"]}', '{"categories": ["food"]}')
    memory_id = stored(pipeline, "Ann cooks")
    for content in ("Ann eats soup", "Ann welds"):
        reworded(pipeline, memory_id, content)
        categorize_due(pipeline.runtime)
    target = Target(pipeline.project, memory_id)
    assert revert_memory(pipeline.runtime, target, 2).categories == ["food"]
    assert categorize_due(pipeline.runtime) == 0
    assert revert_memory(pipeline.runtime, target, 1).categories is None
    assert categorize_due(pipeline.runtime) == 1
    assert len(chat.prompts) == 3
    assert "Ann cooks" in chat.prompts[2]


def test_an_answer_for_an_older_text_is_not_stored(pipeline: Pipeline) -> None:
    chat = with_chat(pipeline)
    memory_id = stored(pipeline, "Ann cooks")
    reworded(pipeline, memory_id, "Ann welds")
    answer = chat.complete

    def overtaken(*args: Any) -> ChatReply:
        if not chat.prompts:
            reworded(pipeline, memory_id, "Ann drives")
        return answer(*args)

    chat.complete = overtaken  # type: ignore[method-assign]
    chat.replies = ['{"categories": ["food"]}', '{"categories": ["work"]}']
    assert categorize_due(pipeline.runtime) == 1
    assert read(pipeline, memory_id).categories is None
    assert categorize_due(pipeline.runtime) == 1
    assert read(pipeline, memory_id).categories == ["work"]


def test_an_outage_waits_and_loses_nothing(pipeline: Pipeline) -> None:
    down = ModelError("down")
    chat = with_chat(pipeline, down, down, down, down)
    memory_id = stored(pipeline, "Ann cooks")
    reworded(pipeline, memory_id, "Ann eats soup")
    for _ in range(4):
        assert categorize_due(pipeline.runtime) == 1
        assert categorize_due(pipeline.runtime) == 0  # not due yet
        due_now(pipeline)
    assert categorize_due(pipeline.runtime) == 1
    assert read(pipeline, memory_id).categories == ["food"]
    assert len(chat.prompts) == 5


@pytest.mark.parametrize("useless", ["I cannot say.", ModelError("no", about="input", code="model_rejected")])
def test_a_model_that_cannot_is_given_up_after_three_tries(pipeline: Pipeline, useless: str | Exception) -> None:
    chat = with_chat(pipeline, *[useless] * 6)
    memory_id = stored(pipeline, "Ann cooks")
    reworded(pipeline, memory_id, "Ann eats soup")
    for _ in range(3):
        assert categorize_due(pipeline.runtime) == 1
        due_now(pipeline)
    assert categorize_due(pipeline.runtime) == 0
    assert read(pipeline, memory_id).categories is None
    assert len(chat.prompts) == (6 if isinstance(useless, str) else 3)  # an unreadable answer is asked for once more
    assert [told["outcome"] for told in pipeline.signals.named("upkeep")] == ["retry", "retry", "failed"]


def test_without_a_chat_model_the_categories_stay(pipeline: Pipeline) -> None:
    memory_id = stored(pipeline, "Ann cooks")
    with pipeline.database.operations() as tx:
        tx.connection.execute(
            text("UPDATE memories SET categories = '{food}', version = 2 WHERE id = :id"), {"id": memory_id}
        )
    assert reworded(pipeline, memory_id, "Ann eats soup").categories == ["food"]
    assert pipeline.count("categorizations") == 0


def test_a_deleted_memory_is_forgotten(pipeline: Pipeline) -> None:
    chat = with_chat(pipeline)
    memory_id = stored(pipeline, "Ann cooks")
    reworded(pipeline, memory_id, "Ann eats soup")
    with pipeline.database.operations() as tx:
        tx.connection.execute(text("UPDATE memories SET state = 'deleted' WHERE id = :id"), {"id": memory_id})
    assert categorize_due(pipeline.runtime) == 1
    assert (chat.prompts, pipeline.count("categorizations")) == ([], 0)


def test_the_webhook_hears_of_the_categories_once_and_when_they_are_searchable(pipeline: Pipeline) -> None:
    with_chat(pipeline)
    memory_id = stored(pipeline, "Ann cooks")
    _listen(pipeline)
    reworded(pipeline, memory_id, "Ann eats soup")
    assert _told(pipeline) == []
    categorize_due(pipeline.runtime)
    [told] = _told(pipeline)
    body = json.loads(bytes(told.body))
    assert body == {"event_details": {"event": "CATEGORIZE", "memory_id": str(memory_id), "categories": ["food"]}}
    assert told.due_at is not None


def _history(pipeline: Pipeline, memory_id: UUID) -> list[Any]:
    with pipeline.database.operations() as tx:
        query = text("SELECT * FROM history WHERE memory_id = :id ORDER BY seq")
        return list(tx.connection.execute(query, {"id": memory_id}))


def _listen(pipeline: Pipeline) -> None:
    insert = """
        INSERT INTO webhooks (id, project_id, name, url, event_types, is_active, secret, created_at, updated_at)
        VALUES (gen_random_uuid(), :project, 'w', 'http://127.0.0.1:9/', '{memory_categorize}', true, ''::bytea,
        now(), now())"""
    with pipeline.database.operations() as tx:
        tx.connection.execute(text(insert), {"project": pipeline.project})


def _told(pipeline: Pipeline) -> list[Any]:
    with pipeline.database.operations() as tx:
        query = text("SELECT * FROM deliveries WHERE project_id = :project")
        return list(tx.connection.execute(query, {"project": pipeline.project}))
