"""Stage 5, Commit: one transaction with everything that an event leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any

from core.domain.conversation import CONTEXT_REACH
from core.domain.ids import new_id
from core.domain.memory import Memory, MemoryState, Turn, expired
from core.domain.outcomes import Outcome, reason_for_nothing
from core.domain.work import Done, EventWork, Superseded
from core.ports.database import LaneRef, Transaction
from core.ports.stores.events import EventResult
from core.ports.stores.ingestion import Additions, Known
from core.services.collections import require_embedder
from core.services.context import Context
from core.services.deduplicate import Draft, twin_of
from core.services.runtime import Runtime


@dataclass
class Prepared:
    """What the stages before have made of an event. `outcomes` are those already decided."""

    work: EventWork
    turns: Sequence[Turn]
    context: Context
    drafts: list[Draft]
    outcomes: list[Outcome]
    usage: dict[str, Any] = field(default_factory=dict)


def commit(runtime: Runtime, lane: LaneRef, prepared: Prepared) -> Done | Superseded:
    """Store the drafts that are still new, and move the event to `committed`.

    Exact and near duplicates are checked again over the rows committed since Context, under the scope locks.
    Raises TransactionConflict (try again; nothing counted), UniqueViolation.
    """
    work = prepared.work
    keys = sorted({draft.scope.key for draft in prepared.drafts})
    with runtime.database.transaction(work.project_id) as tx:
        held = tx.ingestion.enter(lane, keys)
        if held is None:
            return Superseded()
        require_embedder(runtime, held)
        new, outcomes = _still_new(runtime, tx, prepared, keys) if keys else ([], [])
        outcomes = [*prepared.outcomes, *outcomes]
        tx.ingestion.store(_additions(prepared, new, runtime.limits.context_messages))
        changed = new + _supersede(tx, prepared, new, outcomes)
        done: EventResult = {
            "results": [_result(memory) for memory in new],
            "outcomes": [outcome.as_dict() for outcome in outcomes],
            "reason": None if new else reason_for_nothing(outcomes),
            "usage": prepared.usage,
        }
        waiting = tx.ingestion.finish(lane, work.id, done, changed, CONTEXT_REACH)
        if waiting is None:
            raise LostClaim
        runtime.crash.reach("commit")
    runtime.crash.reach("committed")
    return Done(work.id, tuple(waiting))


class LostClaim(Exception):
    """The event was ended by somebody else while its lease was held (erased): everything is rolled back."""


def _still_new(
    runtime: Runtime, tx: Transaction, prepared: Prepared, keys: list[str]
) -> tuple[list[Memory], list[Outcome]]:
    """Rows for the drafts that nobody holds, and what became of each; an expired memory with the text gives way."""
    project_id = prepared.work.project_id
    today = runtime.clock.now().date()
    known = _known(tx, prepared, keys)
    rows: list[Memory] = []
    outcomes: list[Outcome] = []
    for number, draft in enumerate(prepared.drafts):
        same = known.texts.get((draft.scope.key, draft.hash))
        if same is not None and expired(same.expiration_date, today):
            tx.memories.expire([same.id])
            tx.projections.request(project_id, [same.id])
            same = None
        twin = same or twin_of(draft, known.fresh)
        if twin is not None:
            outcomes.append(Outcome("duplicate_of", draft.text, twin.id))
            continue
        rows.append(_row(prepared, draft, number))
        outcomes.append(Outcome("added", draft.text, rows[-1].id))
    return rows, outcomes


def _known(tx: Transaction, prepared: Prepared, keys: list[str]) -> Known:
    """Verbatim adds have looked at no surroundings, and are compared with nothing but equal texts."""
    project_id, hashes = prepared.work.project_id, [draft.hash for draft in prepared.drafts]
    around = prepared.context.surroundings
    if around is None:
        return Known(tx.memories.active_by_hash(project_id, keys, hashes), [])
    return tx.ingestion.known(project_id, keys, hashes, around.marks)


def _additions(prepared: Prepared, rows: Sequence[Memory], keep: int) -> Additions:
    """Rows, with what they leave in other tables; and the messages that later adds of the lane may see."""
    relations = {(draft.scope.key, draft.hash): draft.candidate.relations for draft in prepared.drafts}
    return Additions(
        memories=rows,
        history=[addition(row, prepared.turns) for row in rows],
        relations={row.id: relations[row.scope.key, row.hash] for row in rows},
        messages=_messages(prepared),
        keep=keep,
    )


def _row(prepared: Prepared, draft: Draft, number: int) -> Memory:
    work, candidate = prepared.work, draft.candidate
    created = _created(work, number)
    first = _first_turn(prepared, draft)
    return Memory(
        id=new_id(),
        project_id=work.project_id,
        scope=draft.scope,
        memory=draft.text,
        hash=draft.hash,
        state=MemoryState.ACTIVE,
        created_at=created,
        updated_at=created,
        metadata=work.payload.get("metadata") or {},
        categories=list(candidate.categories) or None,
        entities=list(candidate.entities),
        event_date=candidate.event_date,
        expiration_date=_date(work.payload.get("expiration_date")),
        immutable=bool(work.payload.get("immutable", False)),
        attributed_to=candidate.attributed_to,
        role=candidate.role,
        actor_id=candidate.actor_id,
        source_event_id=work.id,
        source_turns=list(candidate.source_turns),
        lane_key=work.lane_key,
        position=first.position if first else work.position,
        said_at=first.said_at if first else created,
        valid_from=created,
        memory_type=candidate.memory_type,
        embedding=draft.vector.astype("<f4").tobytes() if draft.vector is not None else None,
    )


def _created(work: EventWork, number: int) -> datetime:
    """The add's `timestamp`, else the time of the add; an event's memories stay in order by microseconds."""
    timestamp = work.payload.get("timestamp")
    if timestamp is not None:
        return datetime.fromtimestamp(timestamp, tz=work.created_at.tzinfo)
    return work.created_at + timedelta(microseconds=number)


def _date(value: str | None) -> date | None:
    return date.fromisoformat(value) if value else None


def _first_turn(prepared: Prepared, draft: Draft) -> Turn | None:
    wanted = set(draft.candidate.source_turns)
    return next((turn for turn in prepared.turns if turn.index in wanted), None)


def addition(row: Memory, turns: Sequence[Turn] = ()) -> dict[str, Any]:
    """The history entry of a new memory, with those of `turns` that it came from."""
    wanted = set(row.source_turns)
    source = [turn for turn in turns if turn.index in wanted]
    return {
        "project_id": row.project_id,
        "memory_id": row.id,
        "version": 1,
        "event": "ADD",
        "old_memory": None,
        "new_memory": row.memory,
        "input": [{"role": turn.role, "content": turn.text} for turn in source],
        "created_at": row.created_at,
    }


def _messages(prepared: Prepared) -> list[dict[str, Any]]:
    """What later adds of the lane may see as context: system and tool turns are left out."""
    work = prepared.work
    return [
        {
            "project_id": work.project_id,
            "lane_key": work.lane_key,
            "event_id": work.id,
            "position": turn.position,
            "role": turn.role,
            "name": turn.name,
            "content": turn.text,
            "said_at": turn.said_at,
        }
        for turn in prepared.turns
        if turn.role in ("user", "assistant")
    ]


def _result(memory: Memory) -> dict[str, Any]:
    scope = {key: value for key, value in memory.scope.as_dict().items() if value is not None}
    text = memory.memory
    return {"id": str(memory.id), "event": "ADD", "memory": text, "data": {"memory": text}, **scope}


def _supersede(
    tx: Transaction, prepared: Prepared, stored: Sequence[Memory], outcomes: list[Outcome]
) -> list[Memory]:
    """Close the shown memories that a stored candidate contradicts or restates more fully."""
    near = prepared.context.near
    by_text = {(row.scope.key, row.hash): row for row in stored}
    closed: list[Memory] = []
    for draft in prepared.drafts:
        row = by_text.get((draft.scope.key, draft.hash))
        if row is None:
            continue
        named: list[tuple[int, MemoryState, str | None]] = [
            (item.index, MemoryState.SUPERSEDED, item.kind) for item in draft.candidate.supersedes
        ]
        named += [(index, MemoryState.MERGED, None) for index in draft.candidate.merges]
        for index, state, kind in named:
            old = near[index] if 0 <= index < len(near) else None
            if old is None or old.immutable or old.id in {memory.id for memory in closed}:
                continue
            if tx.memories.close(old.id, state.value, row.id, kind, row.created_at):
                tx.changes.record_update(old, _closed(old, row, state, kind), None)
                closed.append(old)
                outcomes.append(Outcome("superseded", old.memory, old.id))
    return closed


def _closed(old: Memory, by: Memory, state: MemoryState, kind: str | None) -> Memory:
    """The row as `close` has left it."""
    closed = replace(old, state=state, replaced_by=by.id, replaced_kind=kind, valid_to=by.created_at)
    return replace(closed, version=old.version + 1, updated_at=by.created_at)
