"""A folder on a small file system of its own, which a test may fill. Needs the right to mount."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_BALLAST = "ballast"
_PAGE = 4096  # bytes


@dataclass(frozen=True)
class SmallDisk:
    folder: Path

    def fill(self) -> None:
        """No byte is left: new pages of tables, indexes and the log have nowhere to go."""
        with (self.folder / _BALLAST).open("ab") as ballast:
            size = self.free()
            while size >= _PAGE:
                try:
                    os.posix_fallocate(ballast.fileno(), ballast.seek(0, os.SEEK_END), size)
                except OSError:  # others write too
                    size //= 2
                else:
                    size = self.free()

    def free(self) -> int:
        """Bytes."""
        found = os.statvfs(self.folder)
        return found.f_bavail * found.f_frsize

    def clear(self) -> None:
        (self.folder / _BALLAST).unlink(missing_ok=True)

    @contextmanager
    def full(self) -> Iterator[None]:
        self.fill()
        try:
            yield
        finally:
            self.clear()


@contextmanager
def small_disk(folder: Path, mebibytes: int) -> Iterator[SmallDisk]:
    """`folder` with what it holds, its owner and its mode, in memory while the block lasts; gone after it.

    Whoever has files open there must have ended by then; else the mount goes when they do.
    """
    owner, kept = folder.stat(), folder.with_name(folder.name + ".kept")
    folder.rename(kept)
    folder.mkdir()
    options = f"size={mebibytes}m,mode={owner.st_mode & 0o777:o},uid={owner.st_uid},gid={owner.st_gid}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "memlane-test", str(folder)], check=True)
    try:
        subprocess.run(["cp", "-a", f"{kept}/.", str(folder)], check=True)
        shutil.rmtree(kept)
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
