"""Endpoints of a project: create, change, rotate, remove. The secret is told once, by create and by rotate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from core.domain.addresses import Allow, NotAllowed, checked_url
from core.domain.errors import MemlaneError
from core.domain.ids import new_id
from core.domain.webhook_policy import ALL_TYPES, DEFAULT_SCHEDULE, ROTATION_SECONDS, new_secret
from core.domain.webhooks import Webhook
from core.ports.fetch import Fetcher
from core.ports.secrets import SecretBox
from core.services.runtime import Runtime

MOST_WEBHOOKS = 100


@dataclass(frozen=True)
class WebhookParts:
    """What webhooks need beside the runtime. `box` is None when no secret key is configured."""

    box: SecretBox | None
    fetcher: Fetcher
    allow: Allow = "none"
    schedule: Sequence[float] = DEFAULT_SCHEDULE


@dataclass(frozen=True)
class Draft:
    """A validated request body; None leaves a field as it is."""

    name: str | None = None
    url: str | None = None
    event_types: list[str] | None = None
    is_active: bool | None = None
    retry_schedule: list[float] | None = None


def create_webhook(runtime: Runtime, parts: WebhookParts, project_id: UUID, draft: Draft) -> tuple[Webhook, str]:
    """Returns the endpoint and its secret. Raises MemlaneError: `webhook_not_allowed`, `validation_failed`, …"""
    _check(parts, draft)
    secret, now = new_secret(), runtime.clock.now()
    webhook = Webhook(
        id=new_id(),
        project_id=project_id,
        name=draft.name or "",
        url=draft.url or "",
        event_types=list(dict.fromkeys(draft.event_types or [])),
        is_active=draft.is_active is not False,
        created_at=now,
        updated_at=now,
        secret=_box(parts).seal(secret),
        retry_schedule=draft.retry_schedule,
    )
    with runtime.database.transaction(project_id) as tx:
        if len(tx.webhooks.all(project_id)) >= MOST_WEBHOOKS:
            raise MemlaneError("validation_failed", f"A project has at most {MOST_WEBHOOKS} webhooks.")
        tx.webhooks.add(webhook)
    return webhook, secret


def update_webhook(runtime: Runtime, parts: WebhookParts, target: tuple[UUID, UUID], draft: Draft) -> Webhook:
    """`target` is (project, webhook). Activating again clears why it was disabled. Raises `webhook_not_found`."""
    _check(parts, draft)
    project_id, webhook_id = target
    with runtime.database.transaction(project_id) as tx:
        webhook = _found(tx.webhooks.one(webhook_id))
        given = {name: value for name, value in vars(draft).items() if value is not None}
        webhook = replace(webhook, **given)
        if draft.is_active:
            webhook = replace(webhook, disabled_reason=None, failing_since=None)
        tx.webhooks.write(webhook)
    return webhook


def rotate_secret(runtime: Runtime, parts: WebhookParts, target: tuple[UUID, UUID]) -> str:
    """A new secret; the old one signs beside it for a day."""
    project_id, webhook_id = target
    secret = new_secret()
    sealed = _box(parts).seal(secret)
    with runtime.database.transaction(project_id) as tx:
        if not tx.webhooks.rotate(webhook_id, sealed, ROTATION_SECONDS):
            raise MemlaneError("webhook_not_found")
    return secret


def remove_webhook(runtime: Runtime, project_id: UUID, webhook_id: UUID) -> None:
    with runtime.database.transaction(project_id) as tx:
        if not tx.webhooks.remove(webhook_id):
            raise MemlaneError("webhook_not_found")


def list_webhooks(runtime: Runtime, project_id: UUID) -> list[Webhook]:
    with runtime.database.transaction(project_id) as tx:
        return tx.webhooks.all(project_id)


def _found(webhook: Webhook | None) -> Webhook:
    if webhook is None:
        raise MemlaneError("webhook_not_found")
    return webhook


def _box(parts: WebhookParts) -> SecretBox:
    if parts.box is None:
        raise MemlaneError("webhooks_off")
    return parts.box


def _check(parts: WebhookParts, draft: Draft) -> None:
    if draft.url is not None:
        try:
            checked_url(draft.url, parts.allow)
        except NotAllowed as error:
            raise MemlaneError("webhook_not_allowed", pointer="url") from error
    unknown = sorted(set(draft.event_types or []) - set(ALL_TYPES))
    if unknown:
        known = ", ".join(ALL_TYPES)
        raise MemlaneError("validation_failed", f"An event type is unknown; known: {known}.", pointer="event_types")
    if draft.event_types is not None and not draft.event_types:
        raise MemlaneError("validation_failed", "At least one event type is required.", pointer="event_types")
