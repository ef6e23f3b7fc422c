"""Delete by selection: everything is gone for get, list and search at once; a job removes what is left of it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from core.domain.ids import new_id
from core.domain.selection import Selection
from core.domain.work import NewEvent
from core.ports.database import LaneRef
from core.services.change import tried_again
from core.services.runtime import Runtime

DELETE_ALL = "DELETE_ALL"


@dataclass(frozen=True)
class Deletion:
    project_id: UUID
    selection: Selection
    event_type: str = DELETE_ALL
    source: str | None = None


@dataclass(frozen=True)
class Started:
    """The purging event, and how many memories are gone already."""

    event_id: UUID
    deleted: int


def delete_all(runtime: Runtime, deletion: Deletion) -> Started:
    """One transaction marks the rows deleted and accepts the event whose job purges them and their points.

    Raises MemlaneError: `filters_unscoped`, `filters_invalid`.
    """
    selection, project_id = deletion.selection, deletion.project_id
    where = selection.where()
    event = NewEvent(new_id(), deletion.event_type, selection.scope, selection.as_payload(), deletion.source)

    def work() -> tuple[int, bool]:
        with runtime.database.transaction(project_id) as tx:
            deleted = tx.changes.mark_deleted(project_id, where)
            tx.events.accept(project_id, event, names_entities=False)
            return deleted, tx.lanes.is_free(LaneRef(project_id, selection.scope.key))

    deleted, idle = tried_again(work)
    if idle:
        runtime.queue.wake("ingest", f"{project_id}:{selection.scope.key}")
    return Started(event.id, deleted)
