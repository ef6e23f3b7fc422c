"""A TCP proxy on loopback that can spoil its line: slow, swallowing, resetting, answers lost."""

from __future__ import annotations

import select
import socket
import struct
import threading
import time
from dataclasses import dataclass
from pathlib import Path

Address = tuple[str, int] | Path
_CHUNK = 65536
_LOOK_SECONDS = 0.05


@dataclass(frozen=True)
class Line:
    """`delay`: seconds before each chunk is passed on. `swallow`: nothing passes, in either direction, and nobody is
    told. `reset_every`: seconds after which every connection is reset. `lose_answers`: requests pass, the answers do
    not, and the connection is closed instead."""

    delay: float = 0.0
    swallow: bool = False
    reset_every: float | None = None
    lose_answers: bool = False


GOOD = Line()


class Proxy:
    """A context manager; `line` may be changed at any time. Connections that lost bytes are reset by `heal`."""

    def __init__(self, target: Address) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.line = GOOD
        self.lost = 0  # chunks that were not passed on
        self._links: set[_Link] = set()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="proxy", daemon=True)

    def __enter__(self) -> Proxy:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()
        self._listener.close()
        for link in list(self._links):
            link.thread.join(10)

    def heal(self) -> None:
        """The line is good again. What has lost bytes can never go on: its ends are told."""
        self.line = GOOD
        for link in list(self._links):
            link.spoiled = link.spoiled or link.lost > 0

    def _serve(self) -> None:
        self._listener.settimeout(_LOOK_SECONDS)
        while not self._stopping.is_set():
            try:
                client, _ = self._listener.accept()
            except TimeoutError:
                continue
            link = _Link(self, client)
            self._links.add(link)
            link.thread.start()

    def connect(self) -> socket.socket:
        """A new connection to the server behind. Raises OSError."""
        if isinstance(self._target, Path):
            server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            server.connect(str(self._target))
            return server
        return socket.create_connection(self._target, timeout=5)

    def stopping(self) -> bool:
        return self._stopping.is_set()

    def ended(self, link: _Link) -> None:
        self._links.discard(link)


class _Link:
    """One connection, both ways, in one thread."""

    def __init__(self, proxy: Proxy, client: socket.socket) -> None:
        self.spoiled = False
        self.lost = 0
        self.thread = threading.Thread(target=self._run, name="proxy-link", daemon=True)
        self._proxy = proxy
        self._client = client
        self._began = time.monotonic()

    def _run(self) -> None:
        try:
            with self._client, self._proxy.connect() as server:
                self._pass_on(server)
        except OSError:
            return  # one of both ends is gone, and so is the other now: that is what a proxy does
        finally:
            self._proxy.ended(self)

    def _pass_on(self, server: socket.socket) -> None:
        other = {self._client: server, server: self._client}
        while not self._proxy.stopping():
            line = self._proxy.line
            if self.spoiled or (line.reset_every and time.monotonic() - self._began > line.reset_every):
                self._reset()
                return
            for source in select.select(list(other), [], [], _LOOK_SECONDS)[0]:
                data = source.recv(_CHUNK)
                if not data:
                    return
                if line.swallow:
                    self._lose()
                    continue
                if line.lose_answers and source is server:
                    self._lose()
                    return
                if line.delay:
                    time.sleep(line.delay)
                other[source].sendall(data)

    def _lose(self) -> None:
        self.lost += 1
        self._proxy.lost += 1

    def _reset(self) -> None:
        """Closing with a linger time of zero sends RST instead of FIN."""
        self._client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
