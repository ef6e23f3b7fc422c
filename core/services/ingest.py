"""Ingest: one ADD event through context → extract → deduplicate → embed → commit."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from core.domain.memory import Candidate, Turn, expired
from core.domain.outcomes import Outcome
from core.domain.work import Done, EventWork, Superseded
from core.ports.database import LaneRef
from core.ports.extraction import ExtractionRequest
from core.ports.models import ModelError, Usage
from core.services.commit import Prepared, commit
from core.services.context import Context, gather
from core.services.deduplicate import NEAR_COSINE, Draft, drafts_of, twin_of, without_twins
from core.services.embed import embed_all
from core.services.near import Surroundings
from core.services.points import embedding_text_of
from core.services.runtime import Runtime
from core.services.turns import turns as turns_of
from core.text.entities import entities as entities_in

T = TypeVar("T")


@dataclass
class Attempt:
    """One run over one event: its clock of stages and what the models cost."""

    runtime: Runtime
    work: EventWork
    usage: Usage = field(default_factory=Usage)
    stages: dict[str, float] = field(default_factory=dict)

    def timed(self, stage: str, action: Callable[[], T]) -> T:
        started = time.perf_counter()
        try:
            return action()
        finally:
            self.stages[stage] = self.stages.get(stage, 0.0) + (time.perf_counter() - started) * 1000

    def told(self) -> dict[str, Any]:
        return asdict(self.usage) | {"stages_ms": {name: round(ms, 2) for name, ms in self.stages.items()}}


def ingest(runtime: Runtime, lane: LaneRef, work: EventWork) -> Done | Superseded:
    """Do the work of an ADD up to its commit; the projection follows for the whole turn.

    Raises ModelError, MemlaneError, IndexUnavailable, DatabaseUnavailable, TransactionConflict.
    """
    attempt = Attempt(runtime, work)
    turns, outcomes = turns_of(work.payload["messages"], work.payload.get("timestamp"), work.created_at)
    turns = [replace(turn, position=work.position + turn.index) for turn in turns]
    verbatim = work.payload.get("infer", True) is False
    if verbatim:
        context, candidates = Context(), _verbatim(work, turns)
    else:
        context = attempt.timed("context", lambda: gather(runtime, work, turns))
        candidates, dropped = attempt.timed("extract", lambda: _extract(attempt, turns, context))
        outcomes = [*outcomes, *dropped]
        runtime.crash.reach("extract")
    drafts, repeats = drafts_of(candidates, work.scope, verbatim=verbatim)
    drafts, known = _without_known(runtime, work, drafts, context.surroundings)
    drafts, failed = attempt.timed("embed", lambda: _embed(attempt, drafts))
    runtime.crash.reach("embed")
    if not verbatim:
        drafts, near = attempt.timed("deduplicate", lambda: _without_near(attempt, drafts, context))
        known = [*known, *near]
    prepared = Prepared(work, turns, context, drafts, [*outcomes, *repeats, *known, *failed])
    prepared.usage = attempt.told()
    return attempt.timed("commit", lambda: commit(runtime, lane, prepared))


def _verbatim(work: EventWork, turns: Sequence[Turn]) -> list[Candidate]:
    """`infer=false`: one memory per user or assistant message, word for word; `deduced_memories` one each."""
    deduced = work.payload.get("deduced_memories")
    if deduced:
        return [Candidate(text, entities=entities_in(text), source_turns=(0,)) for text in deduced]
    return [
        Candidate(
            turn.text,
            attributed_to=turn.role,
            role=turn.role,
            actor_id=turn.name,
            entities=entities_in(turn.text, turn.name),
            source_turns=(turn.index,),
        )
        for turn in turns
        if turn.role in ("user", "assistant") and turn.text.strip()
    ]


def _extract(attempt: Attempt, turns: list[Turn], context: Context) -> tuple[list[Candidate], list[Outcome]]:
    work = attempt.work
    request = ExtractionRequest(
        scope=work.scope,
        turns=turns,
        earlier=context.earlier,
        shown=context.shown,
        now=work.created_at,
        instructions=context.instructions,
        memory_type=work.payload.get("memory_type"),
    )
    extraction = attempt.runtime.extractor.extract(request)
    attempt.usage = extraction.usage
    return extraction.candidates, extraction.dropped


def _without_known(
    runtime: Runtime, work: EventWork, drafts: list[Draft], around: Surroundings | None
) -> tuple[list[Draft], list[Outcome]]:
    """Leave out, before anything is embedded, what is stored already by hash; Commit looks again."""
    if not drafts:
        return [], []
    active = around.texts if around is not None else None
    if active is None:
        keys = sorted({draft.scope.key for draft in drafts})
        with runtime.database.statements(work.project_id) as tx:
            active = tx.memories.active_by_hash(work.project_id, keys, [draft.hash for draft in drafts])
    today = runtime.clock.now().date()
    kept, outcomes = [], []
    for draft in drafts:
        row = active.get((draft.scope.key, draft.hash))
        if row is None or expired(row.expiration_date, today):
            kept.append(draft)
        else:
            outcomes.append(Outcome("duplicate_of", draft.text, row.id))
    return kept, outcomes


def _embed(attempt: Attempt, drafts: list[Draft]) -> tuple[list[Draft], list[Outcome]]:
    """One batched call; a text that the embedder refuses is an outcome, its siblings are kept.

    Raises ModelError when the provider is away, and when no text of the event could be embedded.
    """
    if not drafts:
        return [], []
    texts = [embedding_text_of(draft.text, draft.candidate.actor_id) for draft in drafts]
    vectors = embed_all(attempt.runtime.models.embedder, texts, attempt.usage)
    kept, outcomes = [], []
    for draft, vector in zip(drafts, vectors, strict=True):
        if not isinstance(vector, ModelError):
            kept.append(replace(draft, vector=np.asarray(vector, dtype=np.float32)))
        elif vector.about == "provider" or attempt.work.tries + 1 < attempt.runtime.limits.input_tries:
            raise vector
        else:
            outcomes.append(Outcome("failed", draft.text, code="embedding_failed", detail=str(vector)))
    if not kept:
        raise next(vector for vector in vectors if isinstance(vector, ModelError))
    return kept, outcomes


def _without_near(attempt: Attempt, drafts: list[Draft], context: Context) -> tuple[list[Draft], list[Outcome]]:
    """Inferred drafts that an active memory, or an earlier draft of the event, already says."""
    drafts, outcomes = without_twins(drafts)
    around = context.surroundings
    if not drafts or around is None or not around.marks:
        return drafts, outcomes
    vectors = np.stack([draft.vector for draft in drafts if draft.vector is not None])
    limit = attempt.runtime.limits.context_memories
    near = around.nearest(vectors, limit, NEAR_COSINE, context.near)
    kept = []
    for draft, memories in zip(drafts, near, strict=True):
        twin = twin_of(draft, memories)
        if twin is None:
            kept.append(draft)
        else:
            outcomes.append(Outcome("duplicate_of", draft.text, twin.id))
    return kept, outcomes
