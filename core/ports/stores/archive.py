"""A project's rows as JSON, out and in. All of it as the operations role."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol
from uuid import UUID


class ArchiveStore(Protocol):
    """What an export reads and an import writes (the format: core/domain/archive.py)."""

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables of an archive, in an order in which they can be imported."""
        ...

    def hold_still(self) -> None:
        """First call of a transaction that exports: it sees one moment, however long it takes."""
        ...

    def open_events(self, project_id: UUID) -> int:
        """How many events are not in the archive because they are still worked on."""
        ...

    def rows(self, table: str, project_id: UUID) -> Iterator[list[str]]:
        """The table's rows as JSON objects, in pages."""
        ...

    def put(self, table: str, project_id: UUID, rows: Sequence[dict[str, Any]]) -> tuple[int, int]:
        """(new, standing): how many were inserted, and how many of all stand in the project now.

        Less standing than given: something of another project, or another row of this one, is in their place.
        Raises ArchiveRefused for what is no row of this table.
        """
        ...
