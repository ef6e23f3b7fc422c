"""The system user PostgreSQL runs as when the launcher is root: PostgreSQL refuses to run as root itself."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from deploy.local.failure import StackFailure

_NAME = "memlane"
_FALLBACKS = ("embedded_postgres", "postgres", "nobody")


@dataclass(frozen=True)
class SystemUser:
    """An account without privileges; `options` are what subprocess needs to run something as it."""

    name: str
    uid: int
    gid: int

    @property
    def options(self) -> dict[str, Any]:
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def can_enter(self, folder: Path) -> bool:
        """Whether the account reaches the folder through all its parents; the kernel is asked, not the mode bits."""
        return self._test("-x", folder)

    def can_read(self, path: Path) -> bool:
        return self._test("-r", path)

    def _test(self, what: str, path: Path) -> bool:
        command = ["test", what, str(path)]
        return subprocess.run(command, cwd="/", timeout=10, check=False, **self.options).returncode == 0


@cache
def system_user() -> SystemUser | None:
    """None when this process is not root (the children then run as its own user).

    Raises StackFailure when this is root and no account can be found or made.
    """
    if os.geteuid() != 0:
        return None
    existing = _look_up(_NAME) or _create() or next(filter(None, map(_look_up, _FALLBACKS)), None)
    if existing is None:
        raise StackFailure(
            "PostgreSQL refuses to run as root and no unprivileged account could be made.",
            f"Create one (useradd --system {_NAME}), run Memlane as an ordinary user, or set MEMLANE_DATABASE_URL.",
        )
    return existing


def _look_up(name: str) -> SystemUser | None:
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return SystemUser(name, entry.pw_uid, entry.pw_gid) if entry.pw_uid != 0 else None


def _create() -> SystemUser | None:
    useradd = shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if useradd is None:
        return None
    command = [useradd, "--system", "--user-group", "--no-create-home", "--home-dir", "/", "--shell", "/bin/false"]
    subprocess.run([*command, _NAME], timeout=30, check=False, capture_output=True)
    return _look_up(_NAME)  # None where useradd failed; the caller has other names to try
