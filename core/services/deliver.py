"""Deliver: claim what is due, sign and send it, and write down what came of it. Never in the way of ingestion."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import orjson

from core.domain.addresses import NotAllowed
from core.domain.render import event_object, instant
from core.domain.webhook_policy import (
    DISABLE_AFTER_SECONDS,
    IN_FLIGHT_PER_ENDPOINT,
    REPLY_BYTES,
    TIMEOUT_SECONDS,
    Attempt,
    headers,
    next_delay,
)
from core.domain.webhooks import AttemptRecord, Delivery, Webhook
from core.ports.database import PASSING, Transaction
from core.ports.fetch import Answer, FetchFailed, Outgoing
from core.ports.secrets import SecretUnreadable
from core.services.runtime import Runtime
from core.services.webhooks import WebhookParts

CLAIM_SECONDS = 2 * TIMEOUT_SECONDS
_SHOWN_BYTES = 1024


class Courier:
    """Sends deliveries with the slots of one process. A slow endpoint holds four of them at the most."""

    def __init__(self, runtime: Runtime, parts: WebhookParts, slots: int = 16) -> None:
        self.runtime = runtime
        self.parts = parts
        self._pool = ThreadPoolExecutor(slots, thread_name_prefix="deliver")
        self._lock = threading.Lock()
        self._free = slots
        self._woken = threading.Event()

    def wake(self) -> None:
        """Look for due deliveries now rather than at the next period."""
        self._woken.set()

    def run(self, stopping: threading.Event, period: float) -> None:
        """Deliver until `stopping`; looks at least every `period` seconds, whatever became of wake-ups."""
        while not stopping.is_set():
            self._woken.clear()
            try:
                busy = self.dispatch() > 0
            except PASSING as error:
                self.runtime.telemetry.emit("sweep", outcome="database_unavailable", detail=str(error)[:200])
                busy = False
            if not busy:
                self._woken.wait(period)
        self._pool.shutdown(wait=True, cancel_futures=True)

    def dispatch(self) -> int:
        """Hand due deliveries to free slots; returns how many. Raises DatabaseUnavailable."""
        with self._lock:
            free = self._free
        if not free:
            return 0
        with self.runtime.database.operations() as tx:
            claimed = tx.webhooks.claim(free, IN_FLIGHT_PER_ENDPOINT, CLAIM_SECONDS)
        with self._lock:
            self._free -= len(claimed)
        for delivery in claimed:
            self._pool.submit(self._occupied, delivery)
        return len(claimed)

    def _occupied(self, delivery: Delivery) -> None:
        try:
            self.attempt(delivery)
        except PASSING as error:  # the claim runs out, and the delivery is due again
            self.runtime.telemetry.emit("webhook_attempt", delivery_id=str(delivery.id), outcome=str(error)[:200])
        finally:
            with self._lock:
                self._free += 1
            self.wake()

    def attempt(self, delivery: Delivery) -> None:
        """One attempt at one delivery. A crash after the receiver's answer sends the same id again."""
        started = time.monotonic()
        with self.runtime.database.transaction(delivery.project_id) as tx:
            webhook = tx.webhooks.one(delivery.webhook_id)
            body = delivery.body if delivery.body is not None else self._event_body(tx, delivery)
        if webhook is None or body is None:
            self._settle(
                delivery, "cancelled", None, AttemptRecord(delivery.attempts, _now(self), 0, None, None, None)
            )
            return
        outcome, record = self._send(webhook, delivery, body)
        record = AttemptRecord(**{**vars(record), "ms": (time.monotonic() - started) * 1000})
        self._conclude(webhook, delivery, outcome, record)

    def _event_body(self, tx: Transaction, delivery: Delivery) -> bytes | None:
        """The event as it ended; kept, so that every attempt signs the same bytes."""
        event = tx.event_reads.one(delivery.project_id, delivery.event_id) if delivery.event_id else None
        if event is None:
            return None
        told = {"type": delivery.event_type, "timestamp": instant(delivery.created_at), "data": event_object(event)}
        body = orjson.dumps(told)
        tx.webhooks.keep_body(delivery.id, body)
        return body

    def _send(self, webhook: Webhook, delivery: Delivery, body: bytes) -> tuple[Attempt, AttemptRecord]:
        now = _now(self)
        status, error, answer = None, None, None
        try:
            signed = headers(self._secrets(webhook), delivery.message_id, int(now.timestamp()), body)
            sent = {"content-type": "application/json", "user-agent": "memlane-webhooks/1", **signed}
            outgoing = Outgoing("POST", webhook.url, body, sent, TIMEOUT_SECONDS, REPLY_BYTES)
            answer = self.parts.fetcher.fetch(outgoing, self.parts.allow)
            status = answer.status
        except (FetchFailed, NotAllowed, SecretUnreadable) as failure:
            error = str(failure)
        attempt = Attempt(status, _retry_after(answer))
        return attempt, AttemptRecord(delivery.attempts, now, 0.0, status, error, _shown(answer))

    def _secrets(self, webhook: Webhook) -> list[str]:
        if self.parts.box is None:
            raise SecretUnreadable("MEMLANE_SECRET_KEY is not set")
        sealed = [webhook.secret]
        if webhook.old_secret:
            sealed.append(webhook.old_secret)
        return [self.parts.box.open(secret) for secret in sealed]

    def _conclude(self, webhook: Webhook, delivery: Delivery, attempt: Attempt, record: AttemptRecord) -> None:
        schedule = webhook.retry_schedule or self.parts.schedule
        after = None if attempt.delivered else next_delay(schedule, delivery.attempts, attempt.retry_after)
        state = "delivered" if attempt.delivered else "exhausted" if after is None or attempt.gone else "waiting"
        self._settle(delivery, state, after, record)
        with self.runtime.database.transaction(delivery.project_id) as tx:
            if attempt.delivered:
                tx.webhooks.healthy(webhook.id)
                return
            tx.webhooks.failing(webhook.id)
            if attempt.gone:
                tx.webhooks.disable(webhook.id, "the endpoint answered 410 Gone", 0)
            else:
                tx.webhooks.disable(webhook.id, "no success for five days", DISABLE_AFTER_SECONDS)

    def _settle(self, delivery: Delivery, state: str, after: float | None, record: AttemptRecord) -> None:
        with self.runtime.database.transaction(delivery.project_id) as tx:
            tx.webhooks.settle(delivery, state, after, record)
        self.runtime.telemetry.emit(
            "webhook_attempt",
            delivery_id=str(delivery.id),
            webhook_id=str(delivery.webhook_id),
            outcome=state,
            status=record.status,
            ms=record.ms,
            attempt=record.number,
        )


def _now(courier: Courier) -> datetime:
    return courier.runtime.clock.now()


def _retry_after(answer: Answer | None) -> float | None:
    """Whole seconds of a Retry-After; the date form is left to the schedule."""
    value = answer.headers.get("retry-after", "") if answer else ""
    return float(value) if value.isdigit() else None


def _shown(answer: Answer | None) -> str | None:
    """The first of what the receiver said, for the delivery log; NUL would not fit into a text column."""
    return answer.body[:_SHOWN_BYTES].decode("utf-8", "replace").replace("\x00", "") if answer else None
