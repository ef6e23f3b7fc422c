"""The log of deliveries, and sending again."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from core.domain.errors import MemlaneError
from core.domain.paging import Page, Window, require_page
from core.domain.webhooks import AttemptRecord, Delivery
from core.services.runtime import Runtime


def list_deliveries(runtime: Runtime, target: tuple[UUID, UUID], state: str | None, window: Window) -> Page[Delivery]:
    """`target` is (project, webhook). Raises `webhook_not_found`, `page_invalid`."""
    project_id, webhook_id = target
    with runtime.database.transaction(project_id) as tx:
        if tx.webhooks.one(webhook_id) is None:
            raise MemlaneError("webhook_not_found")
        count, found = tx.webhooks.deliveries(project_id, webhook_id, state, (window.size, window.offset))
    require_page(window, count)
    return Page(found, count, window)


def read_delivery(runtime: Runtime, project_id: UUID, delivery_id: UUID) -> tuple[Delivery, list[AttemptRecord]]:
    with runtime.database.transaction(project_id) as tx:
        delivery = tx.webhooks.delivery(project_id, delivery_id)
        if delivery is None:
            raise MemlaneError("delivery_not_found")
        return delivery, tx.webhooks.attempts(delivery_id)


def resend(runtime: Runtime, project_id: UUID, delivery_id: UUID) -> None:
    """Queue an ended delivery again; one that still waits is left as it is."""
    with runtime.database.transaction(project_id) as tx:
        if tx.webhooks.delivery(project_id, delivery_id) is None:
            raise MemlaneError("delivery_not_found")
        tx.webhooks.resend(project_id, delivery_id)
    runtime.queue.wake("webhooks")


def replay(runtime: Runtime, target: tuple[UUID, UUID], back: timedelta) -> int:
    """Queue what was given up within `back`; how many."""
    project_id, webhook_id = target
    with runtime.database.transaction(project_id) as tx:
        if tx.webhooks.one(webhook_id) is None:
            raise MemlaneError("webhook_not_found")
        count = tx.webhooks.replay(project_id, webhook_id, back)
    runtime.queue.wake("webhooks")
    return count
