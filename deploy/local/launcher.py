"""`memlane up`: starts the local stack, watches it, stops it. One launcher per MEMLANE_HOME."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from core.settings import Settings
from deploy.local import parts
from deploy.local.environment import Addresses, child_environment
from deploy.local.failure import StackFailure, TooSlow
from deploy.local.folder_lock import AlreadyRunning, folder_lock
from deploy.local.leftovers import end_leftovers
from deploy.local.ports import free_port, is_free, listen, next_free
from deploy.local.postgres import Postgres
from deploy.local.processes import ProcessId
from deploy.local.readiness import answers, get, missing
from deploy.local.secret_files import kept_secret
from deploy.local.stack_state import StackState, running_state
from deploy.local.supervisor import Supervisor
from deploy.local.valkey import Valkey
from deploy.local.variables import given_variables

_PATIENCE = 180.0  # seconds for the whole start; 5 to 10 are usual, a crowded machine takes longer
Say = Callable[[str], None]


@dataclass
class Stack:
    """What is decided before the first child starts."""

    settings: Settings
    home: Path
    listener: socket.socket
    flower_port: int
    postgres: Postgres | None
    valkey: Valkey | None
    endpoint_port: int | None
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def api_url(self) -> str:
        host, port = self.listener.getsockname()[:2]
        reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"

    @property
    def flower_url(self) -> str | None:
        return f"http://127.0.0.1:{self.flower_port}" if self.flower_port else None


def run_stack(settings: Settings, say: Say, announce: Callable[[StackState], None]) -> None:
    """Serves until SIGINT, SIGTERM or SIGHUP. Raises StackFailure; nothing is left running either way.

    `announce` is called once, when everything is ready.
    """
    home = _home(settings)
    for number in (signal.SIGTERM, signal.SIGHUP):  # until there are children to stop in order
        signal.signal(number, signal.default_int_handler)
    try:
        with folder_lock(home):
            end_leftovers(home, say)
            stack = _decide(settings, home, say)
            try:
                _run(stack, say, announce)
            finally:
                stack.listener.close()
    except AlreadyRunning as running:
        state = running_state(home)
        where = f" (pid {state.launcher.pid}, {state.api_url})" if state and state.launcher else ""
        raise AlreadyRunning(
            running.message.rstrip(".") + where + ".", "Use it, stop it, or set MEMLANE_HOME to another folder."
        ) from None


def _home(settings: Settings) -> Path:
    home = settings.home.expanduser().absolute()
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(home, os.W_OK | os.X_OK):
            raise PermissionError(13, "not writable")
    except OSError as refused:
        raise StackFailure(
            f"{home} cannot be used as data folder: {refused.strerror}.", "Set MEMLANE_HOME to another folder."
        ) from refused
    return home.resolve()


def _decide(settings: Settings, home: Path, say: Say) -> Stack:
    listener = listen(settings.host, settings.port)
    flower_port = settings.flower_port
    if flower_port and not is_free("127.0.0.1", flower_port):
        flower_port = next_free("127.0.0.1", flower_port + 1)
        say(f"Port {settings.flower_port} is taken; Flower will be on {flower_port} (MEMLANE_FLOWER_PORT).")
    valkey = Valkey(home, free_port(), kept_secret(home / "valkey_password")) if not settings.broker_url else None
    return Stack(
        settings=settings,
        home=home,
        listener=listener,
        flower_port=flower_port,
        postgres=None if settings.database_url else Postgres(home),
        valkey=valkey,
        endpoint_port=None if settings.qdrant_url else free_port(),
    )


def _run(stack: Stack, say: Say, announce: Callable[[StackState], None]) -> None:
    until = time.monotonic() + _PATIENCE
    if stack.postgres:
        stack.postgres.locate()
        if stack.postgres.moved:
            say(f"The account PostgreSQL runs as cannot reach {stack.home}; its data is in {stack.postgres.data}.")
    stack.environment = child_environment(stack.settings, stack.home, _addresses(stack))
    supervisor = Supervisor(stack.home / "logs", os.environ | stack.environment, say)
    state = _state(stack, supervisor)
    _stop_on_signals(supervisor)
    try:
        _start(stack, supervisor, until)
        if not supervisor.asked_to_stop:
            state.ready = True
            state.write()
            announce(state)
            _watch(stack, supervisor)
            say("Stopping …")
    finally:
        supervisor.stop(parts.STOP_ORDER)
        if stack.postgres:
            stack.postgres.discard_sockets()
        state.remove()


def _watch(stack: Stack, supervisor: Supervisor) -> None:
    from deploy.local.progress import ProgressWatch

    url = stack.environment.get("MEMLANE_DATABASE_URL") or os.environ["MEMLANE_DATABASE_URL"]
    progress = ProgressWatch(
        url, stack.settings.worker_concurrency, lambda pid: supervisor.kill(pid, "makes no progress; restarting it")
    )
    progress.start()
    try:
        supervisor.watch()
    finally:
        progress.stop()


def _addresses(stack: Stack) -> Addresses:
    return Addresses(
        api_url=stack.api_url,
        database_url=stack.postgres.url() if stack.postgres else None,
        broker_url=stack.valkey.url if stack.valkey else None,
        qdrant_url=f"http://127.0.0.1:{stack.endpoint_port}" if stack.endpoint_port else None,
        flower_port=stack.flower_port,
    )


def _state(stack: Stack, supervisor: Supervisor) -> StackState:
    """Kept up to date by the supervisor: each start and exit rewrites the file."""
    state = StackState(
        home=str(stack.home),
        api_url=stack.api_url,
        launcher=ProcessId.of(os.getpid()),
        flower_url=stack.flower_url,
        postgres_data=str(stack.postgres.data) if stack.postgres else None,
        socket_folder=str(stack.postgres.sockets) if stack.postgres else None,
        environment=stack.environment,
        given=given_variables(os.environ),
    )

    def changed() -> None:
        alive = [child for child in supervisor.children.values() if not child.gone.is_set()]
        state.parts = {child.part.name: found for child in alive if (found := ProcessId.of(child.process.pid))}
        state.restarts = dict(supervisor.restarts)
        state.write()

    supervisor.changed = changed
    return state


def _stop_on_signals(supervisor: Supervisor) -> None:
    """The first signal stops in order; a second one kills, which nothing here loses by."""
    seen: list[int] = []

    def handle(number: int, _frame: object) -> None:
        if seen:
            supervisor.kill_all()
        seen.append(number)
        supervisor.ask_to_stop()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, handle)


def _start(stack: Stack, supervisor: Supervisor, until: float) -> None:
    def left() -> float:
        return max(1.0, until - time.monotonic())

    supervisor.start(parts.guard_part(stack.home, stack.postgres))
    if stack.valkey:
        stack.valkey.prepare()
        supervisor.start(parts.valkey_part(stack.valkey))
    if stack.endpoint_port:
        supervisor.start(parts.endpoint(stack.home, stack.endpoint_port))
    if stack.postgres:
        postgres = stack.postgres
        postgres.create()
        child = supervisor.start(parts.postgres_part(postgres))
        supervisor.wait_for(lambda: postgres.ready(child.process.pid), "PostgreSQL was not ready", left())
        if not supervisor.asked_to_stop:
            postgres.create_database()
    if stack.valkey:
        supervisor.wait_for(stack.valkey.ready, "Valkey was not ready", left())
    supervisor.run_once(parts.migrate(), left())
    if supervisor.asked_to_stop:
        return
    _start_services(stack, supervisor)
    if stack.endpoint_port:
        address = f"http://127.0.0.1:{stack.endpoint_port}/"
        supervisor.wait_for(lambda: answers(address), "The index endpoint was not ready", left())
    _wait_ready(stack, supervisor, left())
    if not supervisor.asked_to_stop:
        _start_companions(stack, supervisor)


def _start_services(stack: Stack, supervisor: Supervisor) -> None:
    """What adding and searching need; with few processors the rest would only hold these up."""
    supervisor.start(parts.api(stack.listener.fileno()))
    for number in range(1, stack.settings.workers + 1):
        supervisor.start(parts.ingest_worker(number, stack.settings.worker_concurrency))


def _start_companions(stack: Stack, supervisor: Supervisor) -> None:
    """Webhooks, upkeep and the view of the broker: nobody waits for them."""
    supervisor.start(parts.upkeep_worker())
    supervisor.start(parts.beat(stack.home))
    if stack.flower_port:
        supervisor.start(parts.flower(stack.flower_port))


def _wait_ready(stack: Stack, supervisor: Supervisor, patience: float) -> None:
    question = stack.api_url + ("/readyz?all=1" if stack.settings.workers else "/readyz")
    try:
        supervisor.wait_for(lambda: get(question)[0] == 200, "The stack was not ready", patience, pause=0.2)
    except TooSlow as failure:
        failure.message += f" Missing: {missing(get(question)[1])}."
        raise
