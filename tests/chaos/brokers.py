"""The brokers that Memlane runs on, as processes of the test's own: started, killed, frozen, started again."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import kombu
from kombu.exceptions import OperationalError

from deploy.local.ports import free_port
from deploy.local.valkey import Valkey
from tests.chaos.cluster import Part, wait_until
from tests.conftest import short_home

_RABBIT_SCRIPTS = ("/usr/lib/rabbitmq/bin/rabbitmq-server", "/usr/lib/rabbitmq/sbin/rabbitmq-server")
_RABBIT_CONF = """\
listeners.tcp.1 = 127.0.0.1:{port}
loopback_users = none
log.console = false
"""


@dataclass
class Broker:
    part: Part
    url: str

    def start(self) -> None:
        self.part.start()
        wait_until(self.ready, f"{self.part.name} answers", 120)

    def kill(self) -> None:
        self.part.kill()

    def freeze(self) -> None:
        self.part.send(signal.SIGSTOP)

    def thaw(self) -> None:
        self.part.send(signal.SIGCONT)

    def ready(self) -> bool:
        assert self.part.running, self.part.log.read_text()[-2000:]
        try:
            with kombu.Connection(self.url, connect_timeout=2, transport_options={"socket_timeout": 2}) as link:
                link.ensure_connection(max_retries=1, interval_start=0, timeout=2)
                return link.default_channel is not None
        except (OperationalError, OSError):
            return False


def _valkey(home: Path) -> Broker:
    made = Valkey(home, free_port(), secrets.token_hex(8))
    made.prepare()
    return Broker(Part("valkey", made.command(), os.environ, home / "broker.log"), made.url)


def _redis(home: Path) -> Broker:
    port, password = free_port(), secrets.token_hex(8)
    config = home / "redis.conf"
    config.write_text(f'bind 127.0.0.1\nport {port}\nrequirepass {password}\ndir {home}\nsave ""\nappendonly no\n')
    command = [shutil.which("redis-server") or "redis-server", str(config)]
    return Broker(Part("redis", command, os.environ, home / "broker.log"), f"redis://:{password}@127.0.0.1:{port}/0")


def _rabbitmq(home: Path) -> Broker:
    """A node with a folder, a name, ports and a cookie of its own, on the loopback alone."""
    port, name = free_port(), f"memlane{secrets.token_hex(4)}@localhost"
    (home / "rabbitmq.conf").write_text(_RABBIT_CONF.format(port=port))
    (home / "plugins").write_text("[].")
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("RABBITMQ_")},
        "HOME": str(home),
        "RABBITMQ_NODENAME": name,
        "RABBITMQ_MNESIA_BASE": str(home / "mnesia"),
        "RABBITMQ_LOG_BASE": str(home / "log"),
        "RABBITMQ_CONFIG_FILE": str(home / "rabbitmq.conf"),
        "RABBITMQ_CONF_ENV_FILE": "/dev/null",
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(home / "plugins"),
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        "ERL_EPMD_ADDRESS": "127.0.0.1",
    }
    script = next(filter(os.path.exists, _RABBIT_SCRIPTS), "rabbitmq-server")
    return Broker(
        Part("rabbitmq", [script], environment, home / "broker.log"), f"amqp://guest:guest@127.0.0.1:{port}//"
    )


MAKERS: dict[str, Callable[[Path], Broker]] = {"valkey": _valkey, "redis": _redis, "rabbitmq": _rabbitmq}


@contextmanager
def running_broker(kind: str) -> Iterator[Broker]:
    """Started and answering; gone with its folder when the block ends."""
    home = short_home()
    port_mapper = _epmd_runs() if kind == "rabbitmq" else True
    broker = MAKERS[kind](home)
    try:
        broker.start()
        yield broker
    finally:
        if broker.part.running:
            broker.thaw()
            broker.kill()
        if not port_mapper:  # Erlang starts it as a daemon of its own; it ends when no node is left
            subprocess.run(["epmd", "-kill"], capture_output=True, check=False)
        shutil.rmtree(home, ignore_errors=True)


def _epmd_runs() -> bool:
    return subprocess.run(["epmd", "-names"], capture_output=True, check=False).returncode == 0
