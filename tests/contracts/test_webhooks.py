"""Webhooks end to end without HTTP of ours: changes emit, the courier signs and sends, a real receiver verifies."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text
from standardwebhooks import Webhook as StandardVerifier
from svix.webhooks import Webhook as SvixVerifier
from svix.webhooks import WebhookVerificationError

from core.adapters.guarded_fetch import GuardedFetcher
from core.adapters.qdrant import QdrantIndex
from core.adapters.secret_box import FernetBox
from core.domain.addresses import Allow
from core.domain.errors import MemlaneError
from core.domain.history import CHANGES
from core.domain.selection import Selection
from core.domain.webhook_policy import EMITTED
from core.services.change import Target
from core.services.delete_all import Deletion, delete_all
from core.services.delete_memory import delete_memory
from core.services.deliver import Courier
from core.services.delivery_log import read_delivery, replay, resend
from core.services.update_memory import Change, update_memory
from core.services.webhooks import (
    Draft,
    WebhookParts,
    create_webhook,
    list_webhooks,
    rotate_secret,
    update_webhook,
)
from tests.doubles.pipeline import Pipeline, make_pipeline
from tests.waiting import wait_until


class Receiver:
    """A webhook receiver on loopback; `answers` are statuses to give in turn, then 200."""

    def __init__(self) -> None:
        self.answers: list[int] = []
        self.delay = 0.0
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.released = threading.Event()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                owner.got.append(({k.lower(): v for k, v in self.headers.items()}, body))
                if owner.delay:
                    owner.released.wait(owner.delay)
                self.send_response(owner.answers.pop(0) if owner.answers else 200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/hook"

    def bodies(self) -> list[Any]:
        return [json.loads(body) for _, body in self.got]

    def close(self) -> None:
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


def parts(allow: Allow = "loopback", schedule: tuple[float, ...] = (0, 0, 0, 0)) -> WebhookParts:
    return WebhookParts(FernetBox("test"), GuardedFetcher(), allow, schedule)


@pytest.fixture
def line(own_place: tuple[str, QdrantIndex, str]) -> Iterator[Pipeline]:
    pipeline = make_pipeline(*own_place)
    yield pipeline
    with pipeline.database.operations() as tx:
        for table in ("events", "webhooks"):
            tx.connection.execute(text(f"DELETE FROM {table} WHERE project_id = :p"), {"p": pipeline.project})
    pipeline.database.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


def endpoint(line: Pipeline, receiver: Receiver, *types: str) -> tuple[UUID, str]:
    draft = Draft("hook", receiver.url, list(types) or ["memory_add", "memory_update", "memory_delete"])
    webhook, secret = create_webhook(line.runtime, parts(), line.project, draft)
    return webhook.id, secret


def deliver(line: Pipeline, webhook_parts: WebhookParts | None = None) -> int:
    """Every delivery that is due, one after the other; returns the number of attempts."""
    courier, sent = Courier(line.runtime, webhook_parts or parts()), 0
    while True:
        with line.database.operations() as tx:
            claimed = tx.webhooks.claim(16, 4, 30.0)
        for delivery in claimed:
            courier.attempt(delivery)
        if not claimed:
            return sent
        sent += len(claimed)


def states(line: Pipeline) -> list[str]:
    with line.database.operations() as tx:
        query = text("SELECT state FROM deliveries WHERE project_id = :p ORDER BY created_at, id")
        return [row.state for row in tx.connection.execute(query, {"p": line.project})]


def make_due(line: Pipeline) -> None:
    with line.database.operations() as tx:
        tx.connection.execute(
            text("UPDATE deliveries SET due_at = now() WHERE state = 'waiting' AND due_at IS NOT NULL")
        )


def test_every_kind_of_change_that_history_knows_has_a_row_in_the_emit_table() -> None:
    assert set(CHANGES) <= set(EMITTED)


def test_an_add_is_told_once_it_is_searchable_and_not_before(line: Pipeline, receiver: Receiver) -> None:
    endpoint(line, receiver)
    line.add("I like tea")
    assert deliver(line) == 0
    line.drain()
    assert deliver(line) == 1
    (memory,) = line.memories()
    assert receiver.bodies() == [
        {"event_details": {"id": str(memory.id), "data": {"memory": "I like tea"}, "event": "ADD"}}
    ]


def test_c40_every_path_of_change_emits(line: Pipeline, receiver: Receiver) -> None:
    endpoint(line, receiver)
    line.add("I like tea")
    line.add("I like milk")
    line.drain()
    first, _second = line.memories()
    update_memory(line.runtime, Target(line.project, first.id), Change(text="I like green tea"))
    delete_memory(line.runtime, Target(line.project, first.id))
    delete_all(line.runtime, Deletion(line.project, Selection({"user_id": "ann"})))
    line.drain_all()
    deliver(line)
    told = [(body["event_details"]["event"], body["event_details"]["data"]["memory"]) for body in receiver.bodies()]
    assert sorted(told) == sorted(
        [
            ("ADD", "I like tea"),
            ("ADD", "I like milk"),
            ("UPDATE", "I like green tea"),
            ("DELETE", "I like green tea"),
            ("DELETE", "I like milk"),
        ]
    )


def test_c40_the_signed_bytes_are_the_sent_bytes_for_two_verifiers(line: Pipeline, receiver: Receiver) -> None:
    _, secret = endpoint(line, receiver)
    line.add("Café é 茶 🍵")
    line.drain()
    deliver(line)
    ((headers, body),) = receiver.got
    SvixVerifier(secret).verify(body, headers)  # raises when they differ
    told: Any = StandardVerifier(secret).verify(body, headers)
    assert told["event_details"]["data"]["memory"] == "Café é 茶 🍵"
    with pytest.raises(WebhookVerificationError):
        SvixVerifier(secret).verify(body + b" ", headers)


def test_after_a_rotation_both_secrets_verify(line: Pipeline, receiver: Receiver) -> None:
    webhook, old = endpoint(line, receiver)
    new = rotate_secret(line.runtime, parts(), (line.project, webhook))
    line.add("I like tea")
    line.drain()
    deliver(line)
    ((headers, body),) = receiver.got
    for secret in (old, new):
        StandardVerifier(secret).verify(body, headers)
        SvixVerifier(secret).verify(body, headers)


def test_c40_500_500_200_arrives_at_the_third_try_under_one_id(line: Pipeline, receiver: Receiver) -> None:
    endpoint(line, receiver)
    receiver.answers = [500, 500]
    line.add("I like tea")
    line.drain()
    for _ in range(3):
        deliver(line)
        make_due(line)
    assert len(receiver.got) == 3
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1
    assert len({body for _, body in receiver.got}) == 1
    assert states(line) == ["delivered"]


def test_the_schedule_used_up_is_told_and_can_be_replayed(line: Pipeline, receiver: Receiver) -> None:
    webhook, _ = endpoint(line, receiver)
    receiver.answers = [500] * 4
    line.add("I like tea")
    line.drain()
    for _ in range(4):
        deliver(line)
        make_due(line)
    assert states(line) == ["exhausted"]
    assert replay(line.runtime, (line.project, webhook), timedelta(hours=1)) == 1
    deliver(line)
    assert states(line) == ["delivered"]


def test_the_log_shows_each_attempt_and_an_ended_delivery_can_be_sent_again(
    line: Pipeline, receiver: Receiver
) -> None:
    endpoint(line, receiver)
    receiver.answers = [503]
    line.add("I like tea")
    line.drain()
    deliver(line)
    make_due(line)
    deliver(line)
    with line.database.operations() as tx:
        found = tx.connection.execute(text("SELECT id FROM deliveries WHERE project_id = :p"), {"p": line.project})
        delivery_id = found.scalar_one()
    delivery, attempts = read_delivery(line.runtime, line.project, delivery_id)
    assert [(attempt.number, attempt.status) for attempt in attempts] == [(1, 503), (2, 200)]
    resend(line.runtime, line.project, delivery_id)
    deliver(line)
    assert len(receiver.got) == 3
    assert delivery.message_id == receiver.got[-1][0]["webhook-id"]


def test_410_disables_at_once_and_activation_clears_the_reason(line: Pipeline, receiver: Receiver) -> None:
    webhook, _ = endpoint(line, receiver)
    receiver.answers = [410]
    line.add("I like tea")
    line.drain()
    deliver(line)
    (found,) = list_webhooks(line.runtime, line.project)
    assert not found.is_active
    assert "410" in (found.disabled_reason or "")
    line.add("I like milk")
    line.drain()
    assert deliver(line) == 0
    update_webhook(line.runtime, parts(), (line.project, webhook), Draft(is_active=True))
    assert list_webhooks(line.runtime, line.project)[0].disabled_reason is None


def test_five_days_of_failure_disable(line: Pipeline, receiver: Receiver) -> None:
    webhook, _ = endpoint(line, receiver)
    receiver.answers = [500]
    line.add("I like tea")
    line.drain()
    with line.database.operations() as tx:
        tx.connection.execute(
            text("UPDATE webhooks SET failing_since = now() - interval '6 days' WHERE id = :id"), {"id": webhook}
        )
    deliver(line)
    assert not list_webhooks(line.runtime, line.project)[0].is_active
    assert states(line) == ["cancelled"]


def test_c40_a_slow_endpoint_holds_four_slots_and_delays_no_other(line: Pipeline, receiver: Receiver) -> None:
    slow = Receiver()
    slow.delay = 30.0
    endpoint(line, slow)
    endpoint(line, receiver)
    for n in range(8):
        line.add(f"Fact {n}", infer=False)
    line.drain_all()
    courier, stopping = Courier(line.runtime, parts()), threading.Event()
    thread = threading.Thread(target=courier.run, args=(stopping, 0.2))
    thread.start()
    wait_until(lambda: len(receiver.got) == 8, 10, what="the fast endpoint has all of its deliveries")
    assert len(slow.got) == 4
    stopping.set()
    slow.close()
    thread.join(20)


def test_an_event_that_ended_is_told_with_the_event(line: Pipeline, receiver: Receiver) -> None:
    endpoint(line, receiver, "event_succeeded", "event_failed")
    event = line.add("I like tea")
    line.drain()
    deliver(line)
    (body,) = receiver.bodies()
    assert body["type"] == "event_succeeded"
    assert body["data"]["id"] == str(event)
    assert body["data"]["results"][0]["memory"] == "I like tea"


def test_nothing_is_told_to_another_project_or_of_types_not_asked_for(line: Pipeline, receiver: Receiver) -> None:
    endpoint(line, receiver, "memory_delete")
    line.add("I like tea")
    line.drain()
    assert deliver(line) == 0


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/", "http://10.0.0.1/", "http://127.0.0.1/", "https://u:p@a.example"]
)
def test_c40_a_private_url_is_refused_at_registration(line: Pipeline, url: str) -> None:
    with pytest.raises(MemlaneError) as refused:
        create_webhook(line.runtime, parts("none"), line.project, Draft("hook", url, ["memory_add"]))
    assert refused.value.code == "webhook_not_allowed"


def test_a_name_that_turns_to_loopback_after_registration_is_refused_at_the_send(
    line: Pipeline, receiver: Receiver
) -> None:
    async def rebinding(host: str, number: int) -> list[str]:
        return ["127.0.0.1"]

    webhook_parts = WebhookParts(FernetBox("test"), GuardedFetcher(rebinding), "none", (0, 0))
    draft = Draft("hook", "http://rebind.example.com:8080/hook", ["memory_add"])
    create_webhook(line.runtime, webhook_parts, line.project, draft)
    line.add("I like tea")
    line.drain()
    assert deliver(line, webhook_parts) >= 1
    assert receiver.got == []


def test_a_redirect_is_a_failure_and_is_not_followed(line: Pipeline, receiver: Receiver) -> None:
    endpoint(line, receiver)
    receiver.answers = [302]
    line.add("I like tea")
    line.drain()
    with line.database.operations() as tx:
        (claimed,) = tx.webhooks.claim(16, 4, 30.0)
    Courier(line.runtime, parts()).attempt(claimed)
    assert len(receiver.got) == 1
    with line.database.operations() as tx:
        row = tx.connection.execute(text("SELECT * FROM deliveries WHERE project_id = :p"), {"p": line.project}).one()
    assert (row.state, row.last_status) == ("waiting", 302)
