"""`python -m deploy.local.endpoint --path DIR`: serve the collections of DIR until SIGTERM or SIGINT."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
from pathlib import Path
from types import FrameType
from typing import NoReturn

import uvicorn

from deploy.local.endpoint.app import create_app
from deploy.local.endpoint.collections import FolderBusy, FolderUnreadable, Store

KEY_VARIABLE = "MEMLANE_QDRANT_API_KEY"
REBUILD = "The index is a copy: move that folder away and run `memlane reindex`."


def main() -> int:
    options = _options()
    api_key = os.environ.get(KEY_VARIABLE, "")
    if not api_key:
        return _failed(f"{KEY_VARIABLE} is not set; it is the key that clients send as `api-key`.")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)  # until the server takes over, and again after it has stopped
    try:
        store = Store(options.path)
    except FolderBusy as error:
        return _failed(str(error))
    except FolderUnreadable as error:
        return _failed(f"{error}. {REBUILD}")
    try:
        _serve(store, api_key, options)
    except OSError as error:
        return _failed(f"can't listen on {options.host}:{options.port}: {error.strerror}")
    except SystemExit:
        return 0
    finally:
        store.close()
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m deploy.local.endpoint",
        description="Serves Qdrant Edge over the part of Qdrant's REST protocol that Memlane uses.",
        epilog=f"The environment variable {KEY_VARIABLE} holds the key that clients must send.",
    )
    parser.add_argument("--path", type=Path, required=True, help="data folder; one process per folder")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=6333, help="port; 0 picks a free one (default: %(default)s)")
    parser.add_argument("--port-file", type=Path, help="file to write the port to once requests are answered")
    return parser.parse_args()


def _serve(store: Store, api_key: str, options: argparse.Namespace) -> None:
    with _listener(options.host, options.port) as listener:
        port = listener.getsockname()[1]
        config = uvicorn.Config(
            create_app(store, api_key),
            log_level="warning",
            access_log=False,
            http="httptools",
            loop="uvloop",
            ws="none",
            timeout_keep_alive=90,  # longer than clients keep idle connections, so that they end them
            timeout_graceful_shutdown=5,
        )
        if options.port_file:
            _announce(options.port_file, port)
        print(f"qdrant endpoint on http://{options.host}:{port}, {len(store.names)} collections", flush=True)
        uvicorn.Server(config).run(sockets=[listener])


def _listener(host: str, port: int) -> socket.socket:
    """A listening socket whose protocol is spelled out: asyncio sets TCP_NODELAY on accepted connections only
    then, and without it a kept-alive connection waits 40 ms for a delayed acknowledgement in every answer."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(256)
    except OSError:
        listener.close()
        raise
    return listener


def _announce(path: Path, port: int) -> None:
    """Readers never see a half-written file."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(f"{port}\n")
    partial.replace(path)


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)


def _failed(message: str) -> int:
    print(f"endpoint: {message}", file=sys.stderr, flush=True)
    return 2


if __name__ == "__main__":
    sys.exit(main())
