"""`python -m deploy.docker.worker_alive`: exit 0 when a worker of this host has beaten within 15 s.

The heartbeat is a row that the worker's own thread writes; a process that hangs or has lost its database does not.
"""

from __future__ import annotations

import socket
import sys

import psycopg

from deploy.cli.configuration import database_url

_BEATS = "SELECT count(*) FROM heartbeats WHERE process LIKE %s AND seen_at > now() - interval '15 s'"


def main(host: str) -> int:
    url = database_url().replace("postgresql+psycopg://", "postgresql://", 1)
    try:
        with psycopg.connect(url, connect_timeout=4, autocommit=True) as connection:
            row = connection.execute(_BEATS, (f"%@{host}:%",)).fetchone()
    except psycopg.Error as error:
        sys.stderr.write(f"the database does not answer: {type(error).__name__}\n")
        return 1
    if row and row[0]:
        return 0
    sys.stderr.write(f"no worker of {host} has beaten within 15 s\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main(socket.gethostname()))
