"""Ids of projects as people write them on the command line."""

from __future__ import annotations

from uuid import UUID

import typer


def project_id(written: str | UUID) -> UUID:
    """A UUID, or the form that clients see: `proj_` and its 32 digits. Raises typer.BadParameter."""
    from core.domain.ids import PROJECT_PREFIX

    text = str(written).strip()
    try:
        return UUID(text.removeprefix(PROJECT_PREFIX))
    except ValueError:
        problem = f"{text!r} is no project id: a UUID, or {PROJECT_PREFIX} with 32 digits."
        raise typer.BadParameter(problem) from None
