"""Path parameters as the OpenAPI document shows them; services judge them, in the documented words."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from core.domain.scope import ENTITY_TYPES

MemoryId = Annotated[str, Path(json_schema_extra={"format": "uuid"})]
EventId = Annotated[str, Path(json_schema_extra={"format": "uuid"})]
EntityType = Annotated[str, Path(json_schema_extra={"enum": list(ENTITY_TYPES)})]
EntityNumber = Annotated[str, Path(json_schema_extra={"pattern": "^[0-9]{1,18}$"})]
