"""Webhooks, the deliveries to them, and the log of attempts. Deliveries are made by the database itself."""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol
from uuid import UUID

from core.domain.webhooks import AttemptRecord, Delivery, Webhook


class Endpoints(Protocol):
    """The webhooks of a project."""

    def add(self, webhook: Webhook) -> None: ...

    def write(self, webhook: Webhook) -> None:
        """Store all of it but id, project and `created_at`; `updated_at` is the moment."""
        ...

    def rotate(self, webhook_id: UUID, secret: bytes, seconds: float) -> bool:
        """A new secret; the old one is read beside it for `seconds`. False: there is no such webhook."""
        ...

    def one(self, webhook_id: UUID) -> Webhook | None: ...

    def all(self, project_id: UUID) -> list[Webhook]:
        """Oldest first."""
        ...

    def remove(self, webhook_id: UUID) -> bool:
        """With its deliveries and their log; False when there is none."""
        ...


class DeliveryWork(Protocol):
    """What who delivers does."""

    def claim(self, limit: int, per_endpoint: int, seconds: float) -> list[Delivery]:
        """Due deliveries of all projects, each this caller's for `seconds` and with its attempt counted; at most
        `per_endpoint` in flight to one webhook."""
        ...

    def keep_body(self, delivery_id: UUID, body: bytes) -> None:
        """Fix the bytes of a delivery for all its attempts."""
        ...

    def settle(self, delivery: Delivery, state: str, after: float | None, record: AttemptRecord) -> None:
        """waiting → `state`, after an attempt: delivered | exhausted | cancelled, or waiting for `after` seconds
        more; and its line in the log."""
        ...

    def healthy(self, webhook_id: UUID) -> None:
        """It took a delivery: whatever failed before is forgotten."""
        ...

    def failing(self, webhook_id: UUID) -> None:
        """It did not; the first time since it was healthy counts."""
        ...

    def disable(self, webhook_id: UUID, reason: str, after: float) -> bool:
        """active → disabled when failing for longer than `after` seconds (0: at once), and what waits → cancelled;
        True if so."""
        ...


class DeliveryLog(Protocol):
    """What clients see of deliveries, and sending again."""

    def deliveries(
        self, project_id: UUID, webhook_id: UUID, state: str | None, page: tuple[int, int]
    ) -> tuple[int, list[Delivery]]:
        """(count, deliveries) newest first; `page` is (limit, offset)."""
        ...

    def delivery(self, project_id: UUID, delivery_id: UUID) -> Delivery | None: ...

    def attempts(self, delivery_id: UUID) -> list[AttemptRecord]:
        """In order."""
        ...

    def resend(self, project_id: UUID, delivery_id: UUID) -> bool:
        """delivered | exhausted | cancelled → waiting, due now; False when it waits already."""
        ...

    def replay(self, project_id: UUID, webhook_id: UUID, back: timedelta) -> int:
        """exhausted → waiting, due now and with all attempts before it, for what was made within `back`; how many."""
        ...


class WebhookStore(Endpoints, DeliveryWork, DeliveryLog, Protocol):
    """All of it."""
