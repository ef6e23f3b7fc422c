"""Ports of the local stack, all on loopback unless the person says otherwise."""

from __future__ import annotations

import socket

from deploy.local.failure import StackFailure


def free_port(host: str = "127.0.0.1") -> int:
    """A port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


def is_free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


def next_free(host: str, port: int) -> int:
    """The first free port at or after `port`; any free one when the next 50 are taken."""
    for candidate in range(port, min(port + 50, 65536)):
        if is_free(host, candidate):
            return candidate
    return free_port(host)


def listen(host: str, port: int) -> socket.socket:
    """The API's listening socket. The launcher holds it: requests wait, rather than fail, while the API restarts.

    Raises StackFailure when the port is taken or the address is not this machine's.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as unknown:
        raise StackFailure(
            f"MEMLANE_HOST={host} is not an address.", "Use 127.0.0.1, or 0.0.0.0 for all."
        ) from unknown
    listener = socket.socket(family, kind, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(2048)
    except OSError as refused:
        listener.close()
        raise StackFailure(
            f"The API cannot listen on {host}:{port}: {refused.strerror or refused}.",
            "Stop what uses that port, or choose another with MEMLANE_PORT (0 picks a free one).",
        ) from refused
    return listener


def adopt(fd: int) -> socket.socket:
    """The listening socket inherited as `fd`.

    Its protocol is spelled out: asyncio sets TCP_NODELAY on accepted connections only then, and without it a
    kept-alive connection waits 40 ms for a delayed acknowledgement in every answer.
    """
    inherited = socket.socket(fileno=fd)
    family = inherited.family
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=inherited.detach())
