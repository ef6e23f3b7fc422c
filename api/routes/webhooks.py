"""Webhooks: endpoints, their secrets, the log of deliveries and sending again."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request

from api.answer import Answer
from api.auth import Admin, Reader
from api.openapi import BODY, failures
from api.paging import Envelope, PageQuery, SizeQuery, envelope, window
from api.parts import parts_of
from api.routing import ApiRoute
from api.schemas.answers import Message
from api.schemas.webhooks import WebhookCreate, WebhookUpdate, attempt_object, delivery_object, webhook_object
from core.domain.errors import MemlaneError
from core.domain.ids import project_wire_id
from core.ports.identity import Identity
from core.services.delivery_log import list_deliveries, read_delivery, replay, resend
from core.services.project_settings import read_project
from core.services.webhooks import create_webhook, list_webhooks, remove_webhook, rotate_secret, update_webhook

router = APIRouter(route_class=ApiRoute, tags=["webhooks"])

OF_PROJECT = "/api/v1/webhooks/projects/{project_id:segment}/"
ONE = "/api/v1/webhooks/{webhook_id:segment}/"
DELIVERIES = "/v1/webhooks/{webhook_id:segment}/deliveries/"
Status = Annotated[str | None, Query(pattern="^(waiting|delivered|exhausted|cancelled)$")]
Hours = Annotated[int, Query(ge=1, le=14 * 24, description="How far back, in hours.")]


@router.get(OF_PROJECT, response_model=list[dict[str, Any]], responses=failures(404))
def get_webhooks(request: Request, identity: Reader, project_id: str) -> Answer:
    """The project's endpoints, oldest first; secrets are never shown again."""
    _require_own(identity, project_id)
    runtime = parts_of(request).runtime
    project = read_project(runtime.database, identity.project_id)
    return Answer([webhook_object(webhook, project) for webhook in list_webhooks(runtime, identity.project_id)])


@router.post(OF_PROJECT, response_model=dict[str, Any], status_code=201, responses=failures(404, *BODY))
def post_webhook(request: Request, identity: Admin, project_id: str, body: WebhookCreate) -> Answer:
    """Create an endpoint. `secret` is in this answer and in no other."""
    _require_own(identity, project_id)
    parts = parts_of(request)
    webhook, secret = create_webhook(parts.runtime, parts.webhooks, identity.project_id, body.draft())
    project = read_project(parts.runtime.database, identity.project_id)
    return Answer({**webhook_object(webhook, project), "secret": secret}, 201)


@router.put(ONE, response_model=Message, responses=failures(404, *BODY))
@router.patch(ONE, response_model=Message, responses=failures(404, *BODY), operation_id="patch_webhook")
def put_webhook(request: Request, identity: Admin, webhook_id: str, body: WebhookUpdate) -> Answer:
    """Change what is given. `is_active: true` brings back an endpoint that was disabled; new events only."""
    parts = parts_of(request)
    update_webhook(parts.runtime, parts.webhooks, (identity.project_id, _id(webhook_id)), body.draft())
    return Answer({"message": "Webhook updated successfully"})


@router.delete(ONE, response_model=Message, responses=failures(404))
def delete_webhook(request: Request, identity: Admin, webhook_id: str) -> Answer:
    """The endpoint is gone, with what waited for it and its log."""
    remove_webhook(parts_of(request).runtime, identity.project_id, _id(webhook_id))
    return Answer({"message": "Webhook deleted successfully"})


@router.post("/v1/webhooks/{webhook_id:segment}/rotate/", response_model=dict[str, str], responses=failures(404))
def post_rotation(request: Request, identity: Admin, webhook_id: str) -> Answer:
    """A new secret; for 24 hours deliveries carry the signatures of both."""
    parts = parts_of(request)
    return Answer({"secret": rotate_secret(parts.runtime, parts.webhooks, (identity.project_id, _id(webhook_id)))})


@router.get(DELIVERIES, response_model=Envelope, responses=failures(404))
def get_deliveries(
    request: Request,
    identity: Reader,
    webhook_id: str,
    page: PageQuery = None,
    page_size: SizeQuery = None,
    status: Status = None,
) -> Answer:
    """What was sent to an endpoint, or waits to be, newest first."""
    wanted = window(page, page_size)
    found = list_deliveries(parts_of(request).runtime, (identity.project_id, _id(webhook_id)), status, wanted)
    return Answer(envelope(request, found, delivery_object))


@router.get("/v1/deliveries/{delivery_id:segment}/", response_model=dict[str, Any], responses=failures(404))
def get_delivery(request: Request, identity: Reader, delivery_id: str) -> Answer:
    """One delivery with the log of its attempts."""
    runtime = parts_of(request).runtime
    delivery, attempts = read_delivery(runtime, identity.project_id, _id(delivery_id, "delivery_not_found"))
    return Answer({**delivery_object(delivery), "log": [attempt_object(record) for record in attempts]})


@router.post("/v1/deliveries/{delivery_id:segment}/resend/", response_model=Message, responses=failures(404))
def post_resend(request: Request, identity: Admin, delivery_id: str) -> Answer:
    """Send one ended delivery again, under the same id."""
    resend(parts_of(request).runtime, identity.project_id, _id(delivery_id, "delivery_not_found"))
    return Answer({"message": "Delivery queued"})


@router.post("/v1/webhooks/{webhook_id:segment}/replay/", response_model=dict[str, Any], responses=failures(404))
def post_replay(request: Request, identity: Admin, webhook_id: str, hours: Hours = 24) -> Answer:
    """Send again everything that was given up in the last hours."""
    target = (identity.project_id, _id(webhook_id))
    count = replay(parts_of(request).runtime, target, timedelta(hours=hours))
    return Answer({"message": f"{count} deliveries queued", "count": count})


def _id(written: str, code: str = "webhook_not_found") -> UUID:
    try:
        return UUID(written)
    except ValueError:
        raise MemlaneError(code) from None


def _require_own(identity: Identity, project_id: str) -> None:
    if project_id != project_wire_id(identity.project_id):
        raise MemlaneError("project_not_found")
