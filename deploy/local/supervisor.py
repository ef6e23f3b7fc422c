"""Children of the launcher: start, watch, restart with back-off, stop in order. Driven by events, not by polling.

A thread per child blocks in wait(2) and reports the exit to one queue; signal handlers report there too.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from deploy.local.failure import StackFailure, TooSlow
from deploy.local.lifeline import FD_VARIABLE

_BACK_OFF = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)  # seconds before the 1st, 2nd … restart in a row
_STEADY = 60.0  # a child that lived this long starts the row anew
_LOG_LIMIT = 20 * 1024 * 1024

Steps = Sequence[tuple[signal.Signals, float]]


@dataclass(frozen=True)
class Part:
    """One child. `stop` are signals with the seconds each is given; after the last comes SIGKILL."""

    name: str
    command: Sequence[str]
    stop: Steps = ((signal.SIGTERM, 5.0),)
    options: Mapping[str, Any] = field(default_factory=dict)  # cwd, user, group of subprocess.Popen
    pass_fds: tuple[int, ...] = ()
    once: bool = False  # ends by itself, and is not restarted
    essential: bool = True  # its end fails a start; else it is only started again


@dataclass
class Child:
    part: Part
    process: subprocess.Popen[bytes]
    started: float
    gone: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class Exited:
    child: Child


@dataclass(frozen=True)
class StopAsked:
    number: int


class Supervisor:
    """`changed` is called after each start and exit; `say` gets one line for the person at the keyboard."""

    def __init__(self, logs: Path, environment: Mapping[str, str], say: Callable[[str], None]) -> None:
        self.children: dict[str, Child] = {}
        self.restarts: dict[str, int] = {}
        self.environment = dict(environment)
        self.changed: Callable[[], None] = lambda: None
        self.asked_to_stop = False
        self._logs = logs
        self._say = say
        self._events: SimpleQueue[Exited | StopAsked] = SimpleQueue()
        self._due: dict[str, tuple[float, Part]] = {}  # restarts to come: name → (monotonic time, part)
        self._row: dict[str, int] = {}  # restarts in a row, for the back-off
        self._read_end, self._write_end = os.pipe()
        logs.mkdir(mode=0o700, parents=True, exist_ok=True)

    def log_file(self, name: str) -> Path:
        return self._logs / f"{name}.log"

    def start(self, part: Part) -> Child:
        """Starts the child in a session of its own (Ctrl-C reaches the launcher alone), its output in a log file."""
        environment = self.environment | {FD_VARIABLE: str(self._read_end)}
        with self.log_file(part.name).open("ab") as log:
            try:
                process = subprocess.Popen(
                    part.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                    env=environment, pass_fds=(self._read_end, *part.pass_fds), **part.options,
                )  # fmt: skip
            except OSError as refused:
                raise StackFailure(f"{part.command[0]} cannot be run: {refused}.", "Reinstall Memlane.") from refused
        child = Child(part, process, time.monotonic())
        self.children[part.name] = child
        threading.Thread(target=self._await_exit, args=(child,), name=f"wait-{part.name}", daemon=True).start()
        self.changed()
        return child

    def ask_to_stop(self, number: int = signal.SIGTERM) -> None:
        """Safe in a signal handler and in any thread."""
        self._events.put(StopAsked(number))

    def wait_for(self, fact: Callable[[], bool], what: str, patience: float, pause: float = 0.05) -> None:
        """Returns when `fact` holds or a stop was asked for; asks every `pause` seconds.

        Raises StackFailure when a child ends meanwhile, TooSlow when `patience` seconds have passed.
        """
        until = time.monotonic() + patience
        while not self.asked_to_stop and not fact():
            if time.monotonic() > until:
                raise TooSlow(f"{what} within {patience:.0f} s.", f"See the logs in {self._logs}.")
            self._fail_on_exit(timeout=pause)

    def run_once(self, part: Part, patience: float) -> None:
        """Runs a part that ends by itself. Raises StackFailure when it fails or takes too long."""
        child = self.start(part)
        self.wait_for(child.gone.is_set, f"{part.name} did not end", patience)

    def watch(self) -> None:
        """Restarts what dies, until a stop is asked for."""
        while not self.asked_to_stop:
            try:
                event = self._events.get(timeout=self._next_due())
            except Empty:
                self._restart_due()
                self._cut_logs()
                continue
            if isinstance(event, StopAsked):
                self.asked_to_stop = True
            elif not event.child.part.once:
                self._plan_restart(event.child)

    def stop(self, groups: Sequence[Callable[[str], bool]]) -> None:
        """Ends the children group by group; one belongs to the first group that names it. Then the pipe closes."""
        self._due.clear()
        for belongs in groups:
            members = [child for name, child in self.children.items() if belongs(name) and not child.gone.is_set()]
            _end_together(members)
        os.close(self._write_end)
        _end_together([child for child in self.children.values() if not child.gone.is_set()])
        os.close(self._read_end)

    def kill(self, pid: int, why: str) -> None:
        """Ends a child by its pid, so that it is started anew; a pid that is no child's is left alone."""
        for child in list(self.children.values()):
            if child.process.pid == pid and not child.gone.is_set():
                self._say(f"{child.part.name} {why}")
                child.process.kill()

    def kill_all(self) -> None:
        """For a second Ctrl-C: everything here survives a kill without loss, so nobody has to wait."""
        for child in list(self.children.values()):
            if not child.gone.is_set():
                child.process.kill()

    def tail(self, name: str, lines: int = 15) -> str:
        """The end of the part's log."""
        try:
            text = self.log_file(name).read_text(errors="replace")
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    def _await_exit(self, child: Child) -> None:
        child.process.wait()
        child.gone.set()
        self._events.put(Exited(child))

    def _fail_on_exit(self, timeout: float) -> None:
        """While the stack starts, no child but a finished `once` may end."""
        try:
            event = self._events.get(timeout=timeout)
        except Empty:
            return
        if isinstance(event, StopAsked):
            self.asked_to_stop = True
            return
        part, code = event.child.part, event.child.process.returncode
        if not part.essential:
            self._plan_restart(event.child)
        elif not (part.once and code == 0):
            raise StackFailure(f"{part.name} ended with {describe(code)}. Its log says:", self.tail(part.name))

    def _plan_restart(self, child: Child) -> None:
        name = child.part.name
        lived = time.monotonic() - child.started
        row = 0 if lived > _STEADY else self._row.get(name, 0)
        delay = _BACK_OFF[min(row, len(_BACK_OFF) - 1)]
        self._row[name] = row + 1
        self._due[name] = (time.monotonic() + delay, child.part)
        self._say(f"{name} ended with {describe(child.process.returncode)}; starting it again in {delay:g} s")
        self.changed()

    def _restart_due(self) -> None:
        now = time.monotonic()
        for name, (due, part) in list(self._due.items()):
            if due <= now:
                del self._due[name]
                self.restarts[name] = self.restarts.get(name, 0) + 1
                self.start(part)

    def _next_due(self) -> float:
        soonest = min((due for due, _ in self._due.values()), default=time.monotonic() + 30)
        return max(0.0, soonest - time.monotonic())

    def _cut_logs(self) -> None:
        """Children append, so a file can be emptied under them; one earlier file of each is kept."""
        for log in self._logs.glob("*.log"):
            if log.stat().st_size > _LOG_LIMIT:
                log.with_suffix(".log.1").write_bytes(log.read_bytes())
                os.truncate(log, 0)


def describe(code: int) -> str:
    """An exit code in words."""
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _end_together(children: Sequence[Child]) -> None:
    """Each child goes through its own signals, all at the same time."""
    threads = [threading.Thread(target=_end, args=(child,)) for child in children]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _end(child: Child) -> None:
    for number, seconds in child.part.stop:
        child.process.send_signal(number)
        if child.gone.wait(seconds):
            return
    child.process.kill()
    child.gone.wait(10)
