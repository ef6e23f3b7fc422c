"""The archive of a project: one JSON object a line. A header, the project, its rows table by table, an end.

    {"memlane_archive": 1, "id", "schema", "embedding": {"model", "dims"}, "exported_at", "open_events"}
    {"table": "project", "row": {…}}
    {"table": "memories", "row": {…}}        as PostgreSQL's to_jsonb writes a row; bytes as \\x and hex digits
    {"end": {"rows": 4711}}

Not in a row: the project's id, and numbers that a database hands out itself; the order of the lines stands for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID, uuid5

FORMAT = 1
_FAMILY = UUID("6f6c7a1e-2f0b-5d0c-9a53-2b7a0d0c6d65")


class ArchiveRefused(Exception):
    """The archive does not fit here, or is damaged; the text says why and what to do."""


@dataclass(frozen=True)
class Header:
    """`schema` is the migration of the database that it was made from. `open_events` are not in it."""

    id: str
    schema: str
    embedding: dict[str, Any] | None
    exported_at: str
    open_events: int

    def as_dict(self) -> dict[str, Any]:
        return {"memlane_archive": FORMAT, **asdict(self)}

    @property
    def own_project(self) -> UUID:
        """Where it is imported to unless a project is named: the same one each time, so that a second run of an
        import goes on with the first."""
        return uuid5(_FAMILY, self.id)


def header_of(line: Mapping[str, Any]) -> Header:
    """Raises ArchiveRefused for what is no archive of this format."""
    if line.get("memlane_archive") != FORMAT:
        found = line.get("memlane_archive")
        what = (
            "This is no archive of Memlane." if found is None else f"The archive's format is {found!r}, not {FORMAT}."
        )
        raise ArchiveRefused(what)
    try:
        header = Header(**{name: line[name] for name in Header.__dataclass_fields__})
    except KeyError as missing:
        raise ArchiveRefused(f"The archive's header lacks {missing}.") from missing
    if not (isinstance(header.id, str) and isinstance(header.schema, str) and _is_embedding(header.embedding)):
        raise ArchiveRefused("The archive's header is damaged: export anew.")
    return header


def _is_embedding(value: Any) -> bool:
    """None where the database had no index yet."""
    if value is None:
        return True
    return isinstance(value, dict) and isinstance(value.get("model"), str) and isinstance(value.get("dims"), int)
