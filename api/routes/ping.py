"""Who am I: the first call of every client."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from api.answer import Answer
from api.auth import Reader
from api.openapi import failures
from api.routing import ApiRoute
from core.domain.ids import organization_wire_id, project_wire_id

router = APIRouter(route_class=ApiRoute, tags=["projects"])

NEUTRAL_EMAIL = "user@memlane.local"  # clients send it to their own telemetry, so it must say nothing


class Pong(BaseModel):
    status: str
    org_id: str
    project_id: str
    user_email: str


@router.get("/v1/ping/", response_model=Pong, responses=failures())
def ping(identity: Reader) -> Answer:
    """Check an API key and learn its organisation and project."""
    return Answer(
        {
            "status": "ok",
            "org_id": organization_wire_id(identity.org_id),
            "project_id": project_wire_id(identity.project_id),
            "user_email": NEUTRAL_EMAIL,
        }
    )
