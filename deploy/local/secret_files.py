"""Secrets of the local stack: one random value per part, each in a file of mode 0600 in MEMLANE_HOME."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def kept_secret(path: Path, make: str = "") -> str:
    """The file's content; a new random value (prefixed by `make`) is written where there is no file yet."""
    try:
        found = path.read_text().strip()
        if found:
            return found
    except FileNotFoundError:
        pass
    value = make + secrets.token_urlsafe(32)
    write_private(path, value + "\n")
    return value


def write_private(path: Path, text: str) -> None:
    """Replaces the file at once (readers see the old or the new one), readable by its owner alone."""
    fresh = path.with_name(path.name + ".new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        os.fchmod(descriptor, 0o600)  # also where a killed writer left the file behind
        file.write(text)
    fresh.replace(path)
