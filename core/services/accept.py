"""Accept: the one transaction after which a request is never lost. It touches PostgreSQL only."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson

from core.domain.errors import MemlaneError
from core.domain.ids import new_id
from core.domain.scope import Scope
from core.domain.work import NewEvent
from core.ports.database import LaneRef, Transaction
from core.services.runtime import Runtime

IDEMPOTENCY_LIFE = timedelta(hours=24)


@dataclass(frozen=True)
class Request:
    """A validated request. `payload` is kept on the event and read by the worker."""

    project_id: UUID
    scope: Scope
    payload: dict[str, Any]
    event_type: str = "ADD"
    source: str | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True)
class Accepted:
    event_id: UUID
    replayed: bool = False


def accept(runtime: Runtime, request: Request) -> Accepted:
    """Write the event as PENDING and wake a worker if its lane was idle.

    Raises MemlaneError: `idempotency_mismatch` when the key was used with another body, `too_many_open_events`.
    """
    if runtime.pressure is not None:
        runtime.pressure.check(request.project_id)
    messages = request.payload.get("messages") or []
    event = NewEvent(new_id(), request.event_type, request.scope, request.payload, request.source, len(messages))
    with runtime.database.transaction(request.project_id) as tx:
        if request.idempotency_key is not None:
            replayed = _claim_key(tx, request, request.idempotency_key, event.id)
            if replayed is not None:
                return Accepted(replayed, replayed=True)
        tx.events.accept(request.project_id, event)
        # After the lane's row is locked: a worker that releases the lane waits for this transaction.
        idle = tx.lanes.is_free(LaneRef(request.project_id, request.scope.key))
        runtime.crash.reach("accept")
    runtime.crash.reach("accepted")
    if idle:
        runtime.queue.wake("ingest", f"{request.project_id}:{request.scope.key}")
    return Accepted(event.id)


def _claim_key(tx: Transaction, request: Request, key: str, event_id: UUID) -> UUID | None:
    """The earlier event of this key, or None when the key is now this event's.

    A key whose event FAILED, or that is older than a day by the database's clock, moves to the new event.
    """
    body_hash = body_digest(request.payload, request.scope)
    held = tx.events.hold_key(request.project_id, key, body_hash, event_id)
    if held is None:
        return None
    if held.state == "failed" or held.age > IDEMPOTENCY_LIFE:
        tx.events.move_key(request.project_id, key, body_hash, event_id)
        return None
    if held.body_hash != body_hash:
        raise MemlaneError("idempotency_mismatch")
    return held.event_id


def body_digest(payload: dict[str, Any], scope: Scope) -> str:
    """SHA-256 over the canonical body (sorted keys) without `source`."""
    body = {key: value for key, value in payload.items() if key != "source"}
    return hashlib.sha256(orjson.dumps([body, scope.as_dict()], option=orjson.OPT_SORT_KEYS)).hexdigest()
