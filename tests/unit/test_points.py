"""A memory's point: its own words, its conversation's words, its names."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest

from core.domain.conversation import speaker_of
from core.domain.ids import new_id
from core.domain.memory import Memory, MemoryState
from core.domain.scope import Scope
from core.services.points import build_points, embedding_text
from core.text.bm25 import token_id
from core.text.entities import entities
from core.text.tokens import tokens

_NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
_PROJECT = UUID(int=7)


def _memory(text: str, position: int, *, user: str = "ana", said_at: datetime = _NOON) -> Memory:
    return Memory(
        id=new_id(),
        project_id=_PROJECT,
        scope=Scope(user_id=user),
        memory=text,
        hash=text,
        state=MemoryState.ACTIVE,
        created_at=said_at,
        updated_at=said_at,
        said_at=said_at,
        entities=list(entities(text)),
        lane_key="lane",
        position=position,
        embedding=np.ones(4, dtype="<f4").tobytes(),
    )


def _asks_for(word: str) -> set[int]:
    return {token_id(token) for token in tokens(word)}


def test_a_turn_is_found_by_the_words_of_the_turn_before_it() -> None:
    question, answer = _memory("Which instrument do you play?", 1), _memory("The bassoon, since school", 2)
    point = build_points([answer], [question, answer])[0]
    assert point.bm25_ctx is not None
    assert _asks_for("instrument") <= set(point.bm25_ctx.indices)
    assert not _asks_for("instrument") & set(point.bm25.indices)


def test_own_words_weigh_more_than_those_around() -> None:
    one, two = _memory("walnut", 1), _memory("almond", 2)
    point = build_points([one], [one, two])[0]
    assert point.bm25_ctx is not None
    weights = dict(zip(point.bm25_ctx.indices, point.bm25_ctx.values, strict=True))
    assert weights[token_id("walnut")] > weights[token_id("almond")] > 0


@pytest.mark.parametrize(
    "other",
    [
        _memory("secret harbour", 2, user="bob"),
        _memory("secret harbour", 4),
        _memory("secret harbour", 2, said_at=_NOON + timedelta(hours=2)),
        replace(_memory("secret harbour", 2), state=MemoryState.DELETED),
        replace(_memory("secret harbour", 2), lane_key="elsewhere"),
    ],
    ids=["another scope", "too far away", "another session", "deleted", "another lane"],
)
def test_words_from_elsewhere_never_get_in(other: Memory) -> None:
    memory = _memory("I collect stamps", 1)
    point = build_points([memory], [memory, other])[0]
    assert point.bm25_ctx is not None
    assert not _asks_for("harbour") & set(point.bm25_ctx.indices)


def test_one_run_is_one_conversation_however_long_it_lasts() -> None:
    scope = Scope(user_id="ana", run_id="r1")
    early = replace(_memory("The pump is noisy", 1), scope=scope)
    late = replace(_memory("Replaced the bearing", 2, said_at=_NOON + timedelta(days=1)), scope=scope)
    point = build_points([late], [early, late])[0]
    assert point.bm25_ctx is not None
    assert _asks_for("pump") <= set(point.bm25_ctx.indices)


def test_points_are_reproducible() -> None:
    memories = [_memory(f"Fact number {n} about Porto", n) for n in range(5)]
    assert build_points(memories, memories) == build_points(memories, reversed(memories))


def test_the_speaker_is_an_entity_and_is_embedded() -> None:
    memory = replace(_memory("I ski", 1), actor_id="Tomas")
    assert embedding_text(memory) == "Tomas: I ski"
    assert token_id("entity:tomas") in build_points([memory], [])[0].entity.indices


def test_a_memory_without_embedding_is_refused_by_name() -> None:
    memory = replace(_memory("I ski", 1), embedding=None)
    with pytest.raises(ValueError, match=str(memory.id)):
        build_points([memory], [])


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("Ana: I ski", "Ana"),
        ("Ana Maria: hello there", "Ana Maria"),
        ("周岚：明天见", "周岚"),
        ("remember: buy milk", None),
        ("I like tea", None),
        ("Note, for later: call Bob", None),
        ("http://example.org", None),
        ("12:30 is lunch", None),
    ],
)
def test_a_name_and_a_colon_in_front_is_a_speaker(text: str, speaker: str | None) -> None:
    assert speaker_of(text) == speaker
