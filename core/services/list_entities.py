"""Entities with memories, all of them or a page; and one entity."""

from __future__ import annotations

from uuid import UUID

from core.domain.entities import EntityListing, ScopeEntity
from core.domain.errors import MemlaneError
from core.domain.paging import Page, Window, require_page
from core.domain.scope import ENTITY_TYPES
from core.ports.database import Database

MAX_NUMBER = 2**63 - 1


def list_entities(database: Database, project_id: UUID, window: Window | None) -> EntityListing:
    """Without a window everything: clients delete what they see on the only page that they read.

    Raises MemlaneError("page_invalid").
    """
    with database.statements(project_id) as tx:
        totals = tx.scope_entities.totals(project_id)
        count = sum(totals.values())
        if window is None:
            window, limit = Window(1, max(count, 1)), None
        else:
            require_page(window, count)
            limit = window.size
        rows = tx.scope_entities.listed(project_id, window.offset, limit)
    return EntityListing(Page(rows, count, window), totals)


def read_entity(database: Database, project_id: UUID, type_: str, name: str) -> ScopeEntity:
    """Raises MemlaneError: `entity_type_invalid`, `entity_not_found` (never named by any add)."""
    if type_ not in ENTITY_TYPES:
        raise MemlaneError("entity_type_invalid")
    with database.statements(project_id) as tx:
        entity = tx.scope_entities.one(project_id, type_, name)
    if entity is None:
        raise MemlaneError("entity_not_found")
    return entity


def read_entity_by_number(database: Database, project_id: UUID, type_: str, number: str) -> ScopeEntity:
    """The legacy numeric address. Raises `entity_type_invalid_v1`, `entity_id_invalid`, `entity_not_found`."""
    if type_ not in ENTITY_TYPES:
        raise MemlaneError("entity_type_invalid_v1")
    if not (number.isascii() and number.isdecimal()) or len(number) > 19 or int(number) > MAX_NUMBER:
        raise MemlaneError("entity_id_invalid")
    with database.statements(project_id) as tx:
        entity = tx.scope_entities.by_number(project_id, type_, int(number))
    if entity is None:
        raise MemlaneError("entity_not_found")
    return entity
