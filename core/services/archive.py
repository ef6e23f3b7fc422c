"""Export and import of a project as one archive (`core/domain/archive.py`), line by line, in constant memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any
from uuid import UUID

import orjson

from core.domain.archive import ArchiveRefused, Header, header_of
from core.domain.ids import new_id
from core.domain.project import Project
from core.domain.webhook_policy import new_secret
from core.ports.database import Database
from core.ports.secrets import SecretBox
from core.ports.stores.collections import IndexCollection

BATCH = 500
LONGEST_LINE = 64 * 2**20
_PROJECT_KEYS = ("name", "description", "settings")


@dataclass
class Imported:
    """`rows` of the archive, `new` among them that were not there before; `webhooks_skipped` for want of a key."""

    project_id: UUID
    rows: int = 0
    new: int = 0
    webhooks_skipped: int = 0


def export_project(database: Database, project_id: UUID, write: Callable[[bytes], object]) -> Header:
    """Writes the whole archive, as of one moment. Raises ArchiveRefused for an unknown project."""
    with database.operations() as tx:
        tx.archive.hold_still()
        project = tx.projects.project(project_id)
        if project is None:
            raise ArchiveRefused(f"There is no project {project_id}.")
        active = tx.ops.collections().get("active")
        embedding = {"model": active.embedding_model, "dims": active.dims} if active else None
        now = datetime.now(UTC).isoformat(timespec="seconds")
        header = Header(str(new_id()), tx.ops.revision(), embedding, now, tx.archive.open_events(project_id))
        write(orjson.dumps(header.as_dict()) + b"\n")
        row = {name: getattr(project, name) for name in _PROJECT_KEYS}
        write(orjson.dumps({"table": "project", "row": row}, option=orjson.OPT_SORT_KEYS) + b"\n")
        count = 1
        for table in tx.archive.tables:
            for page in tx.archive.rows(table, project_id):
                write(b"".join(f'{{"table":"{table}","row":{row}}}\n'.encode() for row in page))
                count += len(page)
        write(orjson.dumps({"end": {"rows": count}}) + b"\n")
    return header


def import_project(
    database: Database,
    lines: Iterable[bytes],
    *,
    collection: str,
    project_id: UUID | None = None,
    box: SecretBox | None = None,
    tell: Callable[[int], None] = lambda rows: None,
) -> Imported:
    """Stores what is not there yet, in batches that stay when it stops; a second run goes on where the first was.

    `collection` is the name of the first collection, for a database that has none. Webhooks come in switched off,
    with a secret that nobody knows. Raises ArchiveRefused, DatabaseUnavailable.
    """
    numbered = enumerate(lines, 1)
    header = _header(numbered)
    _check(database, header, collection)
    run = _Import(database, header, Imported(project_id or header.own_project), box)
    run.expect_project(project_id)
    ended = False
    for number, line in _parsed(numbered):
        if ended:
            raise ArchiveRefused(f"Line {number}: the archive goes on after its end.")
        if "end" in line:
            run.flush()
            ended = True
            if line["end"] != {"rows": run.done.rows}:
                raise ArchiveRefused(f"The archive holds {run.done.rows} rows and says {line['end']}: it is damaged.")
        else:
            run.take(number, line)
            tell(run.done.rows)
    if not ended:
        run.flush()
        raise ArchiveRefused("The archive stops before its end. What there was is imported; run it again whole.")
    return run.done


def _header(numbered: Iterator[tuple[int, bytes]]) -> Header:
    for _, line in islice(_parsed(numbered), 1):
        return header_of(line)
    raise ArchiveRefused("The archive is empty.")


def _parsed(numbered: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, raw in numbered:
        if len(raw) > LONGEST_LINE:
            raise ArchiveRefused(f"Line {number} is longer than {LONGEST_LINE} bytes.")
        try:
            line = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            raise ArchiveRefused(f"Line {number} is not JSON: {error}") from error
        if not isinstance(line, dict):
            raise ArchiveRefused(f"Line {number} is not an object.")
        yield number, line


def _check(database: Database, header: Header, collection: str) -> None:
    """The archive must be of this schema and of this embedder; a database without an index takes the archive's."""
    with database.operations() as tx:
        schema = tx.ops.revision()
        if header.schema != schema:
            raise ArchiveRefused(
                f"The archive is of schema {header.schema}, this database of {schema}. Import it into a database of "
                "that version and migrate it, or export anew with this version."
            )
        if header.embedding is not None and "active" not in tx.ops.collections():
            tx.ops.add_collection(f"{collection}_1", "active", header.embedding["model"], header.embedding["dims"])
        _same_embedder(header, tx.ops.collections().get("active"))


def _same_embedder(header: Header, active: IndexCollection | None) -> None:
    if header.embedding is None or active is None:
        return
    ours = {"model": active.embedding_model, "dims": active.dims}
    if header.embedding != ours:
        raise ArchiveRefused(
            f"The archive's vectors were made with {header.embedding['model']} ({header.embedding['dims']} "
            f"dimensions), those here with {ours['model']} ({ours['dims']}). Move one of the two with "
            "`memlane reindex --re-embed` first, or import into a new database."
        )


@dataclass
class _Import:
    """Collects lines of one table, and stores them together."""

    database: Database
    header: Header
    done: Imported
    box: SecretBox | None
    table: str = ""
    batch: list[dict[str, Any]] = field(default_factory=list)

    def expect_project(self, named: UUID | None) -> None:
        if named is None:
            return
        with self.database.operations() as tx:
            if tx.projects.project(named) is None:
                raise ArchiveRefused(f"There is no project {named}.")

    def take(self, number: int, line: dict[str, Any]) -> None:
        table, row = line.get("table"), line.get("row")
        if not isinstance(table, str) or not isinstance(row, dict):
            raise ArchiveRefused(f"Line {number} has no table or no row.")
        if table != self.table or len(self.batch) >= BATCH:
            self.flush()
        self.table = table
        self.batch.append(row)

    def flush(self) -> None:
        if not self.batch:
            return
        table, batch, self.batch = self.table, self.batch, []
        if table == "project":
            self._project(batch[0])
        elif table == "webhooks":
            self._put(table, self._with_secrets(batch))
        else:
            self._put(table, batch)
        self.done.rows += len(batch)

    def _project(self, row: dict[str, Any]) -> None:
        """Made where it is not there; one that is there keeps its own settings."""
        if not isinstance(row.get("name"), str) or not isinstance(row.get("settings"), dict):
            raise ArchiveRefused("The archive's row of the project is damaged: it has no name or no settings.")
        with self.database.operations() as tx:
            if tx.projects.project(self.done.project_id) is not None:
                return
            now = datetime.now(UTC)
            org = tx.projects.first_organization()
            if org is None:
                org = new_id()
                tx.projects.add_organization(org, "default", now)
            given: dict[str, Any] = {name: row.get(name) for name in _PROJECT_KEYS}
            tx.projects.add_project(
                Project(id=self.done.project_id, org_id=org, created_at=now, updated_at=now, **given)
            )

    def _with_secrets(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if self.box is None:
            self.done.webhooks_skipped += len(rows)
            return []
        off = {"is_active": False, "disabled_reason": "imported: rotate its secret, then switch it on"}
        return [{**row, **off, "secret": "\\x" + self.box.seal(new_secret()).hex()} for row in rows]

    def _put(self, table: str, rows: list[dict[str, Any]]) -> None:
        if not rows:
            return
        with self.database.operations() as tx:
            if table not in tx.archive.tables:
                raise ArchiveRefused(f"The archive has rows of {table!r}, which is no table of an archive.")
            if table == "memories":
                _same_embedder(self.header, tx.rebuild.held().get("active"))
            new, standing = tx.archive.put(table, self.done.project_id, rows)
            if standing < len(rows):
                raise ArchiveRefused(
                    f"{len(rows) - standing} rows of {table} cannot be stored: other rows stand in their place. The "
                    "archive has been imported into another project of this database, or the project is not empty."
                )
        self.done.new += new
