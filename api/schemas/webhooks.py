"""Request bodies of webhooks and how endpoints and deliveries look."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, field_validator

from api.schemas.base import Body, Text
from core.domain.ids import project_wire_id
from core.domain.project import Project
from core.domain.render import instant
from core.domain.webhook_policy import ALL_TYPES, parse_schedule
from core.domain.webhooks import AttemptRecord, Delivery, Webhook
from core.services.webhooks import Draft

Url = Annotated[str, Field(min_length=1, max_length=2048)]
EventType = Annotated[str, Field(json_schema_extra={"enum": list(ALL_TYPES)})]
Types = Annotated[list[EventType], Field(max_length=32)]
Delay = Annotated[float, Field(ge=0, le=7 * 86_400, description="Seconds.")]
Schedule = Annotated[list[Delay], Field(min_length=1, max_length=20)]


class WebhookUpdate(Body):
    """What is not given stays."""

    name: Text | None = Field(None, max_length=256)
    url: Url | None = None
    event_types: Types | None = None
    is_active: bool | None = None
    retry_schedule: Schedule | None = None

    @field_validator("retry_schedule")
    @classmethod
    def _sensible(cls, value: list[float] | None) -> list[float] | None:
        if value is not None:
            parse_schedule(",".join(str(seconds) for seconds in value))
        return value

    def draft(self) -> Draft:
        return Draft(self.name, self.url, self.event_types, self.is_active, self.retry_schedule)


class WebhookCreate(WebhookUpdate):
    name: Text = Field(max_length=256)
    url: Url
    event_types: Types


def webhook_object(webhook: Webhook, project: Project) -> dict[str, Any]:
    return {
        "webhook_id": str(webhook.id),
        "name": webhook.name,
        "url": webhook.url,
        "event_types": webhook.event_types,
        "owner": None,
        "is_active": webhook.is_active,
        "disabled_reason": webhook.disabled_reason,
        "retry_schedule": webhook.retry_schedule,
        "project": project.name,
        "project_id": project_wire_id(project.id),
        "created_at": instant(webhook.created_at),
        "updated_at": instant(webhook.updated_at),
    }


def delivery_object(delivery: Delivery) -> dict[str, Any]:
    return {
        "id": str(delivery.id),
        "webhook_id": str(delivery.webhook_id),
        "message_id": delivery.message_id,
        "event_type": delivery.event_type,
        "status": delivery.state,
        "attempts": delivery.attempts,
        "memory_id": str(delivery.memory_id) if delivery.memory_id else None,
        "event_id": str(delivery.event_id) if delivery.event_id else None,
        "last_status": delivery.last_status,
        "last_error": delivery.last_error,
        "due_at": instant(delivery.due_at) if delivery.due_at and delivery.state == "waiting" else None,
        "created_at": instant(delivery.created_at),
        "ended_at": instant(delivery.ended_at) if delivery.ended_at else None,
    }


def attempt_object(record: AttemptRecord) -> dict[str, Any]:
    return {**vars(record), "at": instant(record.at), "ms": round(record.ms, 1)}
