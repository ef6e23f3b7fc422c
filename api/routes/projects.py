"""The key's own project: read and change its settings."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from api.answer import Answer
from api.auth import Admin, Reader
from api.openapi import BODY, failures
from api.parts import parts_of
from api.render import project_object
from api.routing import ApiRoute
from api.schemas.answers import Message
from api.schemas.projects import ProjectPatch
from core.domain.errors import MemlaneError
from core.domain.ids import organization_wire_id, project_wire_id
from core.ports.identity import Identity
from core.services.project_settings import change_project, read_project

router = APIRouter(route_class=ApiRoute, tags=["projects"])

PATH = "/api/v1/orgs/organizations/{org_id:segment}/projects/{project_id:segment}/"


@router.get(PATH, response_model=dict[str, Any], responses=failures(404))
def get_project(request: Request, identity: Reader, org_id: str, project_id: str) -> Answer:
    """The project with all its settings; `fields` is accepted and changes nothing."""
    _require_own(identity, org_id, project_id)
    parts = parts_of(request)
    project = read_project(parts.runtime.database, identity.project_id)
    return Answer(project_object(project, strict_scoping=parts.settings.strict_scoping))


@router.patch(PATH, response_model=Message, responses=failures(404, *BODY))
def patch_project(request: Request, identity: Admin, org_id: str, project_id: str, body: ProjectPatch) -> Answer:
    """Change name, description or settings; what is not given stays."""
    _require_own(identity, org_id, project_id)
    runtime = parts_of(request).runtime
    change_project(runtime.database, runtime.projects, identity.project_id, body.change())
    return Answer({"message": "Project updated successfully"})


def _require_own(identity: Identity, org_id: str, project_id: str) -> None:
    """Other projects, and those that do not exist, look alike."""
    own = (organization_wire_id(identity.org_id), project_wire_id(identity.project_id))
    if (org_id, project_id) != own:
        raise MemlaneError("project_not_found")
