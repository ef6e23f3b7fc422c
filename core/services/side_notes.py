"""What a read writes down on the side, such as when a key was last used: worth a line, and no refusal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from core.ports.database import PASSING
from core.ports.runtime import Telemetry


@contextmanager
def side_note(telemetry: Telemetry, what: str) -> Iterator[None]:
    """A database that cannot write may still answer reads: then the note is lost, which telemetry is told."""
    try:
        yield
    except PASSING as error:
        telemetry.emit("note_lost", what=what, error=type(error).__name__)
