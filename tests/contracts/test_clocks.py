"""A process whose clock is minutes off: ages and ends are reckoned by the database's clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from core.adapters.guarded_fetch import GuardedFetcher
from core.adapters.secret_box import FernetBox
from core.domain.scope import Scope
from core.ports.extraction import ExtractionRequest
from core.ports.models import ModelError
from core.services.accept import IDEMPOTENCY_LIFE, Accepted, Request, accept
from core.services.webhooks import Draft, WebhookParts, create_webhook, rotate_secret
from tests.doubles.pipeline import Pipeline

_OFF = timedelta(minutes=5)
_LITTLE = timedelta(minutes=2)  # less than the clock is off
_AGE = text("UPDATE idempotency_keys SET created_at = now() - CAST(:age AS interval) WHERE project_id = :project")
_OVER = text("UPDATE webhooks SET old_secret_until = now() - interval '1 s' WHERE id = :id")


class OffClock:
    def __init__(self, off: timedelta) -> None:
        self._off = off

    def now(self) -> datetime:
        return datetime.now(UTC) + self._off


@pytest.fixture(params=[_OFF, -_OFF], ids=["ahead", "behind"])
def off(pipeline: Pipeline, request: pytest.FixtureRequest) -> Pipeline:
    pipeline.runtime = replace(pipeline.runtime, clock=OffClock(request.param))
    return pipeline


def test_an_input_that_fails_for_the_first_time_is_tried_again(off: Pipeline) -> None:
    def fail(request: ExtractionRequest) -> list[object]:
        raise ModelError("unreadable", code="model_output_invalid", about="input")

    event = off.add("I like tea")
    off.extractor.script = fail  # type: ignore[assignment]
    off.drain()
    assert (off.event(event).state, off.event(event).tries) == ("retrying", 1)


def test_an_idempotency_key_lasts_a_day_of_the_database(off: Pipeline) -> None:
    first = _accept(off)
    _make_old(off, IDEMPOTENCY_LIFE - _LITTLE)
    assert _accept(off) == Accepted(first.event_id, replayed=True)
    _make_old(off, IDEMPOTENCY_LIFE + _LITTLE)
    assert not _accept(off).replayed


def test_an_old_secret_lasts_until_the_database_says(off: Pipeline) -> None:
    parts = WebhookParts(FernetBox("test"), GuardedFetcher(), "loopback")
    webhook, _ = create_webhook(off.runtime, parts, off.project, Draft("hook", "http://127.0.0.1/", ["memory_add"]))
    rotate_secret(off.runtime, parts, (off.project, webhook.id))
    with off.database.transaction(off.project) as tx:
        found = tx.webhooks.one(webhook.id)
        assert found.old_secret == webhook.secret != found.secret
        assert found.old_secret_until - found.updated_at == timedelta(days=1)
    with off.database.operations() as tx:
        tx.connection.execute(_OVER, {"id": webhook.id})
    with off.database.transaction(off.project) as tx:
        assert tx.webhooks.one(webhook.id).old_secret is None
        tx.webhooks.remove(webhook.id)


def _accept(pipeline: Pipeline) -> Accepted:
    payload = {"messages": [{"role": "user", "content": "I like tea"}]}
    request = Request(pipeline.project, Scope(user_id="ann"), payload, idempotency_key="once")
    return accept(pipeline.runtime, request)


def _make_old(pipeline: Pipeline, age: timedelta) -> None:
    with pipeline.database.operations() as tx:
        tx.connection.execute(_AGE, {"age": age, "project": pipeline.project})
