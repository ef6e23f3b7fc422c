"""Reading one memory and its history."""

from __future__ import annotations

from uuid import UUID

from core.domain.errors import MemlaneError
from core.domain.history import HistoryEntry
from core.domain.memory import Memory
from core.domain.paging import Page, Window, require_page
from core.ports.database import Database


def read_memory(database: Database, project_id: UUID, memory_id: UUID) -> Memory:
    """Any memory that is not deleted; expired ones too. Raises MemlaneError("memory_not_found")."""
    with database.statements(project_id) as tx:
        memory = tx.changes.read(project_id, memory_id)
    if memory is None:
        raise MemlaneError("memory_not_found")
    return memory


def read_history(database: Database, project_id: UUID, memory_id: UUID) -> list[HistoryEntry]:
    """Every ADD, UPDATE and DELETE, oldest first; also of a deleted memory. Raises `memory_not_found`."""
    with database.statements(project_id) as tx:
        entries: list[HistoryEntry] = tx.history.of_memory(project_id, memory_id)
    if not entries:
        raise MemlaneError("memory_not_found")
    return entries


def list_history(database: Database, project_id: UUID, window: Window) -> Page[HistoryEntry]:
    """Of all memories, newest first. Raises MemlaneError("page_invalid")."""
    with database.statements(project_id) as tx:
        count = tx.history.count(project_id)
        require_page(window, count)
        return Page(tx.history.page(project_id, window.offset, window.size), count, window)
