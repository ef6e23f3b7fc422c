"""For operators: is it up, can it work, what has it counted. No key; nothing here names a project."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import RedirectResponse

from api.answer import Answer

router = APIRouter(tags=["operation"])


@router.get("/healthz")
async def healthz() -> Answer:
    """The process is up. Touches nothing, waits for nothing."""
    return Answer({"status": "ok"})


@router.get("/", include_in_schema=False)
async def root() -> RedirectResponse:
    """A browser lands on the documentation."""
    return RedirectResponse("/docs")
